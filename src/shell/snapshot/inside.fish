set -g __axi_file $argv[1]
function __axi_end --on-event fish_exit
    begin
        printf '%s\0' $PWD
        for name in (set -nx)
            printf '%s\0%s\0' $name "$$name"
        end
    end >$__axi_file
end
set -e argv[1]
$argv
