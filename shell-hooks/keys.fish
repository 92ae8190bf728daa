# What axi's keys run in fish: `axi init fish --keys` prints it with the words in front, for the hook that is loaded.

# A folder that is no whole path counts as none; nor does another person's, which su and sudo leave.
set -g __axi_folder $HOME/.local/state/axi
string match -q '/*' -- "$XDG_STATE_HOME"; and set -g __axi_folder $XDG_STATE_HOME/axi
set -g __axi_reply $__axi_folder/axi/$AXI_SESSION.reply
string match -q '/*' -- "$XDG_RUNTIME_DIR"; and test -O "$XDG_RUNTIME_DIR"
and set -g __axi_reply $XDG_RUNTIME_DIR/axi/$AXI_SESSION.reply
set -g __axi_out
set -g __axi_submitted
set -g __axi_last $__axi_ran[1]
functions -q __axi_tell_hook; and __axi_tell_hook

# Once is enough.
function __axi_load
    $argv
end

function __axi_after --on-event fish_postexec
    set -g __axi_ran $status $CMD_DURATION "$argv[1]"
    set -g __axi_last $__axi_ran[1]
    test -n "$__axi_out"; and __axi_back
end

# Variables of that one command; argv is for everybody to see.
function __axi_tell
    # What fish was told to forget is not told here either.
    set -l command "$__axi_ran[3]"
    string match -q ' *' -- "$command"; and set command
    functions -q fish_should_add_to_history; and not fish_should_add_to_history "$command"; and set command
    set -gx AXI_LINE (commandline -b | string collect)
    set -gx AXI_REPLY $__axi_reply
    set -gx AXI_SHELL fish
    set -gx AXI_SHELL_VERSION $version
    set -gx AXI_LAST_COMMAND (string sub -l 4096 -- "$command" | string collect)
    set -gx AXI_LAST_STATUS "$__axi_ran[1]"
    # What $status is: axi ends with it, so that it stays.
    set -gx AXI_STATUS 0$__axi_last
    set -gx AXI_LAST_SECONDS
    test -n "$__axi_ran[2]"; and set -gx AXI_LAST_SECONDS (math "$__axi_ran[2] / 1000")
    set -gx AXI_ALIASES (begin; alias; abbr --show; end | string collect | string sub -l 16384 | string collect)
    # Functions that the line or the last command name; not fish's own, not those that aliases are.
    set -l found
    for word in (string match -ar -- '[[:alnum:]_][[:alnum:]_.:+-]*' "$AXI_LINE $command")
        functions -q -- $word; or continue
        string match -q -- "$__fish_data_dir/*" (functions --details -- $word); and continue
        string match -q -- 'embedded:*' (functions --details -- $word); and continue
        set -l text (functions -- $word | string collect)
        string match -qr -- "--description '?alias " $text; or set -a found $text
    end
    set -gx AXI_FUNCTIONS (string join \n -- $found | string collect | string sub -l 8192 | string collect)
end

# What the agent's commands are to find of this shell: records of a kind, a name and a text. axi reads it once, and then
# it is gone.
function __axi_snapshot
    set -l folder (string replace -r '/[^/]*$' '' -- $__axi_reply)
    if not test -d $folder; and test -O "$HOME" -o -O "$XDG_RUNTIME_DIR"
        command mkdir -p -m 700 -- $folder 2>/dev/null
    end
    test -O $folder; or return
    begin
        # What a file of theirs defines is read where it is needed: to look at it here would run the file.
        set -l filed
        for folder in $fish_function_path
            printf 'p\0%s\0\0' $folder
            string match -q -- "$__fish_data_dir/*" $folder; and continue
            for file in $folder/*.fish
                set -a filed (string replace -r '^.*/(.*)\.fish$' '$1' -- $file)
            end
        end
        for name in (functions -na)
            string match -qr -- '^(__axi|fish_)' $name; and continue
            if contains -- $name $filed
                printf 'f\0%s\0\0' $name
                continue
            end
            set -l from (functions --details -- $name)
            string match -q -- "$__fish_data_dir/*" $from; and continue
            string match -q -- 'embedded:*' $from; and continue
            printf 'f\0%s\0' $name
            functions -- $name
            printf '\0'
        end
    end >(string replace -r '\.reply$' .person -- $__axi_reply) 2>/dev/null
end

function __axi_forget
    for name in AXI_{LINE,REPLY,SHELL,SHELL_VERSION,LAST_COMMAND,LAST_STATUS,LAST_SECONDS,ALIASES,FUNCTIONS,STATUS}
        set -e $name
    end
end

function __axi_hand_over
    # Open menus keep their abort, and so does the one of Ctrl+R; before 4, fish does not tell of that while it has
    # found nothing yet. A line that the arrow keys brought is a line. `read` has this key too.
    if commandline --paging-mode; or commandline --search-field >/dev/null 2>&1
        commandline -f cancel
        return
    end
    __axi_idle; or return
    __axi_fits; or return
    __axi_tell
    __axi_snapshot
    set -l shown (string split -m1 \n -- $AXI_LINE)[1]
    set shown (string replace -ra '[[:cntrl:]]' ' ' -- $shown | string sub -l 400)
    set -g __axi_submitted " "(string escape -- $__axi_program)" handoff"
    string match -qr '\S' -- "$shown"; and set -g __axi_submitted "$__axi_submitted # $shown"
    # fish takes the mode that a job leaves for its own: after kill -9 it must be put right before fish looks. 0 is
    # any process, for as long as the hand-off runs.
    function __axi_killed --on-process-exit 0
        test "$argv[3]" -gt 130 -o "$argv[3]" -lt 0; and not test -e "$__axi_reply"; or return
        command stty sane iutf8 2>/dev/null </dev/tty
        # The row of what it was doing goes before fish writes there what became of its job.
        test "$TERM" != dumb; and printf '\e[?1004l\e[0m\e[J' >/dev/tty
    end
    set -g __axi_out 1
    set -g __axi_kept $__axi_ran
    set -g __axi_line $AXI_LINE
    commandline -r -- $__axi_submitted
    # As Enter does in vi's command mode.
    string match -q '*vi_key_bindings' -- "$fish_key_bindings"; and set -g fish_bind_mode insert
    commandline -f execute
end

# Nothing is running that reads a line.
function __axi_idle
    set -l running (status current-commandline 2>/dev/null | string collect)
    test -z "$running$__axi_running"
end

# Before 3.5, fish does not tell.
if string match -qr '^3\.[0-4]\.' -- $version
    function __axi_runs --on-event fish_preexec
        set -g __axi_running 1
    end
    function __axi_rests --on-event fish_postexec
        set -g __axi_running
    end
end

function __axi_fits
    # Linux gives one variable 128 KiB.
    set -l line (commandline -b | string collect)
    test (string length -- "$line") -lt 30000; and return
    echo; echo $__axi_words_long
    commandline -f repaint
    return 1
end

# After each command while a hand-off is out.
function __axi_back
    set -l code $__axi_ran[1]
    set -l over
    # What axi left: its own exit code, and a text for the next prompt line.
    set -l text
    set -l ended
    if test -e "$__axi_reply"
        set ended 1
        read -lz found <$__axi_reply
        command rm -f -- $__axi_reply
        set text "$found"
        set -l own (string match -r '^ended \d+' -- "$text")
        if test -n "$own"
            set code (string sub -s 7 -- "$own")
            set text (string sub -s (math (string length -- "$own") + 2) -- "$text" | string collect)
        end
    end
    if test -n "$__axi_submitted"
        set over 1
        __axi_settle $code $ended
        # One that went well has told the command before it; after ESC the next one tells it again.
        test $code -eq 0; and set -g __axi_ran; or set -g __axi_ran $__axi_kept
    else if string match -qr '^\s*(fg(\s|$)|%)' -- "$__axi_ran[3]"
        # What brings a hand-off back that was stopped is no command to tell of, and the one before it is not the last
        # on the screen.
        set over 1
        set -g __axi_ran
    end
    set -l ran (string replace -r '\.reply$' .ran -- $__axi_reply)
    test -e "$ran"; and __axi_remember $ran
    # The exit code does not tell: fish has none for a job that is stopped.
    if test -n "$over"; and jobs | string match -q -- '*stopped*handoff*'
        set over
    else if test -n "$over"
        set -g __axi_out
    end
    if string match -q -- put\n'*' "$text"
        commandline -r -- (string sub -s 5 -- "$text" | string collect)
    else if test -n "$over" -a "$code" -ne 0
        # It did not come to answer: the line is the person's still.
        commandline -r -- "$__axi_line"
    end
end

# After a hand-off, whether it ended or was stopped: our command leaves the history, the person's text enters it. $argv
# is its exit code, and 1 if a reply came.
function __axi_settle
    set -l line "$AXI_LINE"
    builtin history delete --exact --case-sensitive -- "$__axi_submitted"
    __axi_forget
    functions -e __axi_killed
    set -g __axi_submitted
    if test $argv[1] -gt 130; and not contains $argv[1] 146 148
        # What kill -9 leaves: hidden cursor, colour, paste marks, kitty's keys; where no reply came, the window's title.
        test "$TERM" != dumb; and printf '\e[0m\e[?25h\e[?2026l\e[?2004l\e[?1004l\e[<u'
        test "$TERM" != dumb; and not set -q argv[2]; and printf '\e]2;\e\\\\\e[23;2t'
    end
    __axi_add "$line"
end

# Commands that the agent ran, where the settings ask for them in the history.
function __axi_remember
    for line in (string split0 <$argv)
        __axi_add "$line"
    end
    command rm -f -- $argv
end

# Adds a line to the history, as fish itself would.
function __axi_add
    set -l line "$argv[1]"
    string match -qr '^\S' -- "$line"; or return
    # What is added would be written down in spite of it.
    set -q fish_private_mode; and return
    if functions -q fish_should_add_to_history; and not fish_should_add_to_history "$line"
        return
    end
    if string match -qr '^([4-9]|\d\d)\.' -- $version
        builtin history append -- "$line"
        return
    end
    # Before 4, fish cannot be told to add a line: the file is what its sessions share.
    set -l name fish
    set -q fish_history; and test "$fish_history" != default; and set name $fish_history
    set -l file $HOME/.local/share/fish/{$name}_history
    test -n "$XDG_DATA_HOME"; and set file $XDG_DATA_HOME/fish/{$name}_history
    if test -n "$name" -a -w "$file"
        set line (string replace -a -- \\ \\\\ "$line" | string collect)
        set line (string replace -a -- \n \\n "$line" | string collect)
        # What this session has not written yet comes first.
        builtin history save
        # A second ago: fish's own clock may be a tick behind, and it leaves out what comes from the future.
        printf '%s cmd: %s\n  when: %s\n' - "$line" (math (command date +%s) - 1) >>$file
        builtin history merge
    end
end

# Rewrites the line in place: nothing is run, and undo brings the old line back.
function __axi_rewrite_line
    __axi_idle; or return
    string match -qr '\S' -- (commandline -b); or return
    __axi_fits; or return
    __axi_tell
    # A row of its own under the line; afterwards the cursor is exactly where fish left it.
    set -l below (math (commandline -b | count) - (commandline -L) + 1)
    set -l down ''
    test $below -gt 1; and set down \e'['(math $below - 1)B
    # IND makes room at the bottom of the screen without moving the column.
    printf '%s\eD\e[%dA\e7\r\e[%dB' "$down" $below $below >/dev/tty
    set -lx AXI_UNSENT 1
    set -l answer ($__axi_program handoff --rewrite 2>&1 </dev/tty | string collect; set -g __axi_code $pipestatus[1])
    printf '\e8' >/dev/tty
    __axi_forget
    if test $__axi_code -eq 0
        # Behind the command: what is told of what was typed meanwhile.
        commandline -r -- (string replace -r '(?s)\x1e.*' '' -- "$answer" | string collect)
        set answer (string replace -r '^[^\x1e]*\x1e?' '' -- "$answer" | string collect)
    end
    if test -n "$answer"
        printf '\n%s\n' "$answer"
        # fish paints a prompt of several rows from that many rows above.
        set -l rows (fish_prompt)
        test (count $rows) -gt 1; and string repeat -N -n (math (count $rows) - 1) \n
    end
    commandline -f repaint
end

# Says once for all shells what the person must know: {key}, {owner} and {keys} are put in. $__axi_new is the name of
# the file that says that it was said.
function __axi_warn
    set -l text $__axi_words_taken
    test $__axi_new = zellij; and set text $__axi_words_zellij
    set -l free
    # Neither of these is Zellij's.
    bind \em >/dev/null 2>&1; or set -a free alt-m
    bind \er >/dev/null 2>&1; or set -a free alt-r
    set text (string replace -a '{key}' $__axi_key_name -- $text | string replace -a '{owner}' "$__axi_state[2]")
    string replace -a '{keys}' (string join ', ' -- $free) -- $text >&2
    command mkdir -p -- $__axi_folder 2>/dev/null; and echo -n >$__axi_folder/told-fish-$__axi_new 2>/dev/null
end
