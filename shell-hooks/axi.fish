# axi in fish: Ctrl+G hands the line to the agent; a command it proposes comes back on the next prompt line.
# `axi init fish` prints this with the settings in front. To uninstall, remove the line that loads it.
#
# The line is submitted, not hosted: the key saves it, puts a plain `axi handoff` in its place and has fish execute
# that, so that job control and terminal modes are the shell's. Only builtins run at a prompt. This is what a shell
# needs at its start; what the keys run (keys.fish) is asked of axi when the first is pressed.
if status is-interactive

    # The same process keeps its conversation (a hook loaded again, exec fish); a shell inside a shell gets its own.
    string match -q -- "*-$fish_pid-*" "$AXI_SESSION"
    or set -gx AXI_SESSION (random 0 2147483647)-$fish_pid-(random)
    set -g __axi_handed
    set -g __axi_command
    set -g __axi_status 0
    set -g __axi_milliseconds

    function __axi_after --on-event fish_postexec
        set -l code $status
        test -n "$__axi_handed"; and __axi_returned $code "$argv[1]"; and return
        set -g __axi_milliseconds $CMD_DURATION
        set -g __axi_status $code
        # What fish was told to forget is not kept here either.
        string match -q -- ' *' "$argv[1]"; and set -g __axi_command; or set -g __axi_command "$argv[1]"
    end

    # Functions of plugins, for `axi doctor`: which were here before this hook, and once it is asked which are here now.
    # A list that is a path has colons in quotes.
    if not set -q __axi_before
        set -g __axi_watched fzf_key_bindings __direnv_export_eval __zoxide_hook _zoxide_hook _atuin_preexec enable_transience
        set -g --path __axi_before -
        for __axi_name in $__axi_watched
            functions -q $__axi_name; and set -a __axi_before $__axi_name
        end
    end

    function __axi_asked --on-event fish_preexec
        string match -q -- '*axi*doctor*' "$argv[1]"; and __axi_load; and __axi_tell_hook
    end

    function __axi_load
        set -l text ($__axi_program init fish --keys 2 2>&1 </dev/null | string collect; set -g __axi_code $pipestatus[1])
        if test $__axi_code -ne 0
            echo; echo $text
            commandline -f repaint 2>/dev/null
            return 1
        end
        eval "$text"
        return 0
    end

    function __axi_handoff
        __axi_load; and __axi_hand_over
    end

    function __axi_rewrite
        __axi_load; and __axi_rewrite_line
    end

    # The first prompt: everything is loaded now. Leaves word for `axi doctor`, and says once what the person must know.
    function __axi_started --on-event fish_prompt
        functions -e __axi_started
        set -l state bound -
        set -l told
        if test -z "$__axi_key"
            set state none -
        else
            # In the mode that the person begins with: fish 4.1 and later answer for all of them.
            set -l mode $fish_bind_mode default
            set -l bound (bind --user -M $mode[1] $__axi_key 2>/dev/null)
            if not string match -q -- '*__axi_handoff*' "$bound"
                set state taken (string replace -r '^.* ' '' -- "$bound[1]" | string trim -c \'\")
                set told taken-(string replace -ra '[^[:alnum:]_-]' '' -- $state[2])
            else if test -n "$ZELLIJ" -a "$__axi_key" = \cg
                set told zellij
            end
        end
        test -n "$__axi_key_name"; or set -g __axi_key_name -
        set -gx AXI_HOOK "1 fish $version $__axi_key_name $state $__axi_before -"
        if test -n "$told"
            set -l folder $HOME/.local/state
            test -n "$XDG_STATE_HOME"; and set folder $XDG_STATE_HOME
            test -e $folder/axi/told-fish-$told; or begin
                __axi_load; and __axi_warn $told $state[2]
            end
        end
    end

    # While a chord may follow, fish holds Ctrl+X (copy) back: until the next key, unless the person has set a limit.
    test -n "$__axi_rewrite_keys"; and set -q fish_sequence_key_delay_ms; and set -a __axi_rewrite_keys \cx\cg
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
