# axi in fish: Ctrl+G hands the line to the agent; a command it proposes comes back on the next prompt line.
# `axi init fish` prints this with the settings in front. To uninstall, remove the line that loads it.
#
# The line is submitted, not hosted: the key saves it, puts a plain `axi handoff` in its place and has fish execute
# that, so that job control and terminal modes are the shell's. Only builtins run at a prompt.
if status is-interactive

    set -q __axi_program; or set -g __axi_program axi
    set -q __axi_key; or set -g __axi_key \cg
    set -q __axi_rewrite_keys; or set -g __axi_rewrite_keys \eg
    set -q __axi_key_name; or set -g __axi_key_name ctrl-g
    # The same process keeps its conversation (a hook loaded again, exec fish); a shell inside a shell gets its own.
    string match -q -- "*-$fish_pid-*" "$AXI_SESSION"
    or set -gx AXI_SESSION (random 0 2147483647)-$fish_pid-(random)
    set -g __axi_state $HOME/.local/state/axi
    test -n "$XDG_STATE_HOME"; and set -g __axi_state $XDG_STATE_HOME/axi
    set -g __axi_reply $__axi_state/axi/$AXI_SESSION.reply
    test -n "$XDG_RUNTIME_DIR"; and set -g __axi_reply $XDG_RUNTIME_DIR/axi/$AXI_SESSION.reply
    set -g __axi_submitted
    set -g __axi_command
    set -g __axi_status 0
    set -g __axi_seconds

    function __axi_after --on-event fish_postexec
        set -l code $status
        set -l duration $CMD_DURATION
        if test -n "$__axi_submitted"
            __axi_settle
            # A hand-off that went well has told the command before it; after ESC the next one tells it again.
            test $code -ne 0; or set -g __axi_command
            if test $code -gt 130; and not contains $code 146 148
                # What kill -9 leaves: hidden cursor, colour, paste marks, kitty's keys.
                test "$TERM" != dumb; and printf '\e[0m\e[?25h\e[?2026l\e[?2004l\e[<u'
            end
        else
            # What fish was told to forget is not kept here either.
            string match -q -- ' *' "$argv[1]"; and set -g __axi_command; or set -g __axi_command "$argv[1]"
            set -g __axi_status $code
            set -g __axi_seconds (math "$duration / 1000")
        end
        test -e $__axi_reply; or return
        set -l text
        read -lz text <$__axi_reply
        command rm -f -- $__axi_reply
        string match -q -- put\n'*' "$text"; and commandline -r -- (string sub -s 5 -- "$text" | string collect)
    end

    # Variables of that one command; argv is for everybody to see.
    function __axi_tell
        set -gx AXI_LINE (commandline -b | string collect)
        set -gx AXI_REPLY $__axi_reply
        set -gx AXI_SHELL fish
        set -gx AXI_SHELL_VERSION $version
        set -gx AXI_LAST_COMMAND (string sub -l 4096 -- "$__axi_command" | string collect)
        set -gx AXI_LAST_STATUS $__axi_status
        set -gx AXI_LAST_SECONDS $__axi_seconds
        set -gx AXI_ALIASES (begin; alias; abbr --show; end | string collect | string sub -l 16384 | string collect)
    end

    function __axi_forget
        set -e AXI_LINE AXI_REPLY AXI_SHELL AXI_SHELL_VERSION
        set -e AXI_LAST_COMMAND AXI_LAST_STATUS AXI_LAST_SECONDS AXI_ALIASES
    end

    function __axi_handoff
        # Open menus and searches keep their abort; `read` has this key too.
        if commandline --paging-mode; or commandline --search-mode
            commandline -f cancel
            return
        end
        test -z "$(status current-commandline 2>/dev/null)"; or return
        __axi_fits; or return
        __axi_tell
        set -l shown (string split -m1 \n -- $AXI_LINE)[1]
        set shown (string replace -ra '[[:cntrl:]]' ' ' -- $shown | string sub -l 400)
        set -g __axi_submitted " $(string escape -- $__axi_program) handoff"
        string match -qr '\S' -- "$shown"; and set -g __axi_submitted "$__axi_submitted # $shown"
        # fish takes the mode that a job leaves for its own: after kill -9 it must be put right before fish looks. 0 is
        # any process, for as long as the hand-off runs.
        function __axi_killed --on-process-exit 0
            test "$argv[3]" -gt 130 -o "$argv[3]" -lt 0; and command stty sane 2>/dev/null </dev/tty
        end
        commandline -r -- $__axi_submitted
        # As Enter does in vi's command mode.
        string match -q '*vi_key_bindings' -- "$fish_key_bindings"; and set -g fish_bind_mode insert
        commandline -f execute
    end

    function __axi_fits
        # Linux gives one variable 128 KiB.
        set -l line (commandline -b | string collect)
        test (string length -- "$line") -lt 30000; and return
        echo; echo (set -q __axi_words_long; and echo $__axi_words_long; or echo 'axi: the line is too long')
        commandline -f repaint
        return 1
    end

    # After a hand-off, whether it ended or was stopped: our command leaves the history, the person's text enters it.
    function __axi_settle
        set -l line "$AXI_LINE"
        builtin history delete --exact --case-sensitive -- "$__axi_submitted"
        __axi_forget
        functions -e __axi_killed
        set -g __axi_submitted
        string match -qr '^\S' -- "$line"; or return
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
        if test -n "$name" -a -w "$file"; and not set -q fish_private_mode
            set line (string replace -a -- \\ \\\\ "$line" | string collect)
            set line (string replace -a -- \n \\n "$line" | string collect)
            # What this session has not written yet comes first.
            builtin history save
            printf '%s cmd: %s\n  when: %s\n' - "$line" (command date +%s) >>$file
            builtin history merge
        end
    end

    # Rewrites the line in place: nothing is run, and undo brings the old line back.
    function __axi_rewrite
        test -z "$(status current-commandline 2>/dev/null)"; or return
        string match -qr '\S' -- (commandline -b); or return
        __axi_fits; or return
        __axi_tell
        # A row of its own under the line; afterwards the cursor is exactly where fish left it.
        set -l below (math (commandline -b | count) - (commandline -L) + 1)
        set -l down ''
        test $below -gt 1; and set down \e'['(math $below - 1)B
        # IND makes room at the bottom of the screen without moving the column.
        printf '%s\eD\e[%dA\e7\r\e[%dB' "$down" $below $below >/dev/tty
        set -l answer ($__axi_program handoff --rewrite 2>&1 </dev/tty | string collect; set -g __axi_code $pipestatus[1])
        printf '\e8' >/dev/tty
        __axi_forget
        if test $__axi_code -eq 0
            commandline -r -- "$answer"
        else if test $__axi_code -ne 130
            printf '\n%s\n' "$answer"
        end
        commandline -f repaint
    end

    # The first prompt: everything is loaded now. Leaves word for `axi doctor`, and says once what the person must know.
    function __axi_started --on-event fish_prompt
        functions -e __axi_started
        set -l state bound
        set -l text
        set -l owner -
        if test -z "$__axi_key"
            set state none
        else
            set -l bound (bind --user $__axi_key 2>/dev/null)
            if not string match -q -- '*__axi_handoff*' "$bound"
                set state taken
                set owner (string replace -r '^.* ' '' -- "$bound[1]")
            end
        end
        test -n "$__axi_key_name"; or set -g __axi_key_name -
        set -gx AXI_HOOK "1 fish $version $__axi_key_name $state $owner"
        if test $state = taken
            set text 'axi: {key} belongs to {owner}; free: {keys}'
            set -q __axi_words_taken; and set text $__axi_words_taken
        else if test -n "$ZELLIJ" -a "$__axi_key" = \cg
            set text 'axi: Zellij keeps Ctrl+G; free: {keys}'
            set -q __axi_words_zellij; and set text $__axi_words_zellij
        end
        set -l told $__axi_state/told-fish-$state-(string replace -ra '[^[:alnum:]_-]' '' -- $owner)
        test -n "$text"; and not test -e $told; or return 0
        set -l free
        bind \ei >/dev/null 2>&1; or set -a free alt-i
        bind \ej >/dev/null 2>&1; or set -a free alt-j
        set text (string replace -a '{key}' $__axi_key_name -- $text | string replace -a '{owner}' $owner)
        string replace -a '{keys}' (string join ', ' -- $free) -- $text >&2
        command mkdir -p -- $__axi_state 2>/dev/null; and echo -n >$told 2>/dev/null
    end

    for __axi_mode in default insert
        if test -n "$__axi_key"
            if test -n "$__axi_chosen"; or not bind --user -M $__axi_mode $__axi_key >/dev/null 2>&1
                bind -M $__axi_mode $__axi_key __axi_handoff
            end
        end
        for __axi_rewrite_key in $__axi_rewrite_keys
            test -n "$__axi_rewrite_key"; and not bind --user -M $__axi_mode $__axi_rewrite_key >/dev/null 2>&1
            and bind -M $__axi_mode $__axi_rewrite_key __axi_rewrite
        end
    end
end
