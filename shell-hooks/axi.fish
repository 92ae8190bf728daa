# axi in fish: Ctrl+G hands the line to the agent; a command it proposes comes back on the next prompt line.
# `axi init fish` prints this with the settings in front. To uninstall, remove the line that loads it.
#
# The line is submitted, not hosted: the key saves it, puts a plain `axi handoff` in its place and has fish execute
# that, so that job control and terminal modes are the shell's; what is on the line then is what fish shows. Only
# builtins run at a prompt. This is what a shell needs at its start, where each character costs it time; what the keys
# run (keys.fish) is asked of axi when the first is pressed.
if status is-interactive

    # The same process keeps its conversation (a hook loaded again, exec fish); a shell inside a shell gets its own.
    string match -q -- "*-$fish_pid-*" "$AXI_SESSION"
    or set -gx AXI_SESSION (random 0 2147483647)-$fish_pid-0

    # All that is kept of the last command: exit code, milliseconds, text.
    set -g __axi_ran
    function __axi_after --on-event fish_postexec
        set -g __axi_ran $status $CMD_DURATION "$argv[1]"
    end

    # What this hook is like and which plugins were here before it and are here now, for `axi doctor`: told before the
    # first command.
    set -g __axi_watched fzf-history-widget __direnv_export_eval __zoxide_hook _zoxide_hook _atuin_preexec enable_transience
    function __axi_plugins
        set -g __axi_here -
        functions -q $__axi_watched
        test $status -lt 6; and for name in $__axi_watched
            functions -q $name; and set __axi_here $__axi_here,$name
        end
    end
    __axi_plugins
    set -q __axi_before; or set -g __axi_before $__axi_here
    function __axi_tell_hook --on-event fish_preexec
        functions -e __axi_tell_hook
        __axi_plugins
        set -gx AXI_HOOK "1 fish $version $__axi_key_name $__axi_state $__axi_before $__axi_here"
    end

    # Reads what the keys run, and runs one of its functions.
    function __axi_load
        set -l text ($__axi_program init fish --keys 4 2>&1 </dev/null | string collect)
        if string match -q '*__axi_hand_over*' -- "$text"
            eval $text
            $argv
        else
            echo \n$text
            commandline -f repaint
        end
    end
    function __axi_handoff
        __axi_load __axi_hand_over
    end
    function __axi_rewrite
        __axi_load __axi_rewrite_line
    end

    # A mode's keys. A key that somebody else owns stays theirs, unless the person names it.
    function __axi_bind
        for key in $__axi_key $__axi_rewrite_keys
            set -l bound (bind --user -M $argv $key 2>/dev/null)
            if test "$key" != "$__axi_key"
                test -z "$bound"; and bind -M $argv $key __axi_rewrite
            else if test -z "$bound" -o -n "$__axi_chosen"; or string match -q '*__axi_*' -- "$bound"
                bind -M $argv $key __axi_handoff
                set __axi_state bound -
            else
                set __axi_state taken (string replace -r '.* ' '' -- $bound[1] | string trim -c \'\")
                set -g __axi_new taken-(string replace -ra '[^[:alnum:]_-]' '' -- $__axi_state[2])
            end
        end
    end

    # The first prompt: everything is loaded now, the person's keys too. Says once what the person must know.
    function __axi_started --on-event fish_prompt
        functions -e __axi_started
        set -g __axi_state none -
        # While a chord may follow, fish holds Ctrl+X (copy) back: until the next key, unless the person set a limit.
        set -q fish_sequence_key_delay_ms __axi_rewrite_keys[1]; and set -a __axi_rewrite_keys \cx\cg
        __axi_bind default
        function __axi_modes --on-variable fish_key_bindings
            contains "$fish_key_bindings" '' fish_default_key_bindings; or __axi_bind insert
        end
        __axi_modes
        test -n "$ZELLIJ" -a "$__axi_key$__axi_state[1]" = \cgbound; and set -g __axi_new zellij
        if set -q __axi_new
            set -l folder $HOME/.local/state
            test -n "$XDG_STATE_HOME"; and set folder $XDG_STATE_HOME
            test -e $folder/axi/told-fish-$__axi_new; or __axi_load __axi_warn
        end
    end
end
