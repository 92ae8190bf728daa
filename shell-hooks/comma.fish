# `, question` in fish: a line that begins so is handed over when it is entered, quotes and globs as they are. Printed
# behind the hook where the settings ask for it.
#
# Enter looks at the line before fish reads it. An Enter of the person's own stays theirs, and so does a `,`.
if status is-interactive
    function __axi_enter
        if string match -q ', *' -- (commandline -b)[1]; and not commandline --paging-mode
            __axi_load __axi_hand_over
        else
            commandline -f execute
        end
    end
    function __axi_comma_started --on-event fish_prompt
        functions -e __axi_comma_started
        type -q ,; and return
        set -l modes default
        contains "$fish_key_bindings" '' fish_default_key_bindings; or set -a modes insert
        for mode in $modes
            set -l bound (bind --user -M $mode \r 2>/dev/null)
            test -z "$bound"; and bind -M $mode \r __axi_enter
        end
    end
end
