# axi in nu: Ctrl+G hands the line to the agent; a command it proposes comes back on the prompt line.
# `axi init nu` prints this with the settings in front. To uninstall, remove the file that it is in.
#
# The key is a command that nu itself runs while it keeps the line, so that job control and terminal modes are the
# shell's. nu reads no text while it runs, so all of the hook is here. What is kept between prompts is a record:
# programs get only what is text of the environment.

# Adds lines to the history. nu's own command for that makes a copy of the whole file first, and says so.
def __axi_keep [lines: list<string>] {
    for line in ($lines | where {|it| $it =~ '^\S' }) {
        if $env.config.history.file_format == plaintext {
            $"($line | str replace --all (char newline) '<\n>')(char newline)" | save --append $nu.history-path
        } else {
            $line | history import
        }
    }
}

# What axi left: its own exit code, where the shell was given the person's, and a text for the prompt line.
def __axi_receive [ended: int] {
    let reply = (if ($env.__axi.reply | path exists) { open --raw $env.__axi.reply | decode utf-8 } else { '' })
    rm --force $env.__axi.reply
    let file = ($env.__axi.reply | str replace --regex 'reply$' 'ran')
    if ($file | path exists) {
        __axi_keep (open --raw $file | decode utf-8 | split row (char nul))
        rm --force $file
    }
    let own = ($reply | parse --regex '(?s)^ended (?<code>\d+)\n(?<rest>.*)$' | get 0? | default {code: $ended, rest: $reply})
    {
        code: ($own.code | into int)
        put: (if ($own.rest | str starts-with "put\n") { $own.rest | str substring 4.. })
    }
}

# Hands the line over, and takes back what axi leaves for the prompt.
def --env __axi_hand_over [] {
    let line = (commandline)
    let code = ($env.LAST_EXIT_CODE? | default 0)
    if ($line | str length) > 30000 {
        print $__axi_words_long
        return
    }
    let ran = $env.__axi.ran
    # What is told again after ESC was measured the first time.
    if $env.__axi.seconds == null {
        $env.__axi.seconds = (($env.CMD_DURATION_MS? | default 0 | into float) / 1000)
    }
    let told = {
        AXI_LINE: $line
        AXI_REPLY: $env.__axi.reply
        AXI_SHELL: nu
        AXI_SHELL_VERSION: (version).version
        AXI_LAST_COMMAND: ($ran | str substring 0..4095)
        AXI_LAST_STATUS: (if $ran == '' { '' } else { $"($code)" })
        AXI_LAST_SECONDS: (if $ran == '' { '' } else { $"($env.__axi.seconds)" })
        AXI_STATUS: $"($code)"
        AXI_ALIASES: (scope aliases | each {|it| $"alias ($it.name) = ($it.expansion)" } | str join (char newline) | str substring 0..8191)
    }
    print ''
    # A failure that nobody catches would end this here.
    let ended = (with-env $told { try { ^$__axi_program handoff; 0 } catch {|error| $error.exit_code? | default 1 } })
    if $ended != 0 and not ($env.__axi.reply | path exists) and $env.TERM? != dumb {
        # What kill -9 leaves: a row of what it was doing, a hidden cursor, colour, paste marks, kitty's keys.
        let esc = (char --unicode '1b')
        print --no-newline $"($esc)[0m($esc)[J($esc)[?25h($esc)[?2026l($esc)[?2004l($esc)[?1004l($esc)[<u"
        # And a terminal that hands over each key: nu takes it for what programs are to find.
        try { ^stty icanon isig iexten echo icrnl opost onlcr }
    }
    __axi_keep [$line]
    let left = (__axi_receive $ended)
    if $left.code == 0 { $env.__axi.ran = '' }
    if $left.put != null {
        commandline edit --replace $left.put
    } else if $left.code == 0 {
        commandline edit --replace ''
    }
    # What nu told of the last command, it tells again: only a program that ends with the same code does that.
    if $code != 0 { ^$nu.current-exe --no-config-file --commands $"exit ($code)" }
}

if $nu.is-interactive {
    # The same process keeps its conversation (a hook loaded again); a shell inside a shell gets its own.
    if $"-($nu.pid)-" not-in ($env.AXI_SESSION? | default '') {
        $env.AXI_SESSION = $"(random int)-($nu.pid)-0"
    }
    let state = ($env.XDG_STATE_HOME? | default '')
    let folder = (if ($state | str starts-with '/') { $state } else { $nu.home-dir | path join .local state })
    if $env.__axi? == null {
        $env.__axi = {ran: '', seconds: null, reply: ($folder | path join axi axi $"($env.AXI_SESSION).reply")}
        # What a hand-off leaves that was stopped and brought back.
        $env.config.hooks.pre_prompt = ($env.config.hooks.pre_prompt? | default [] | append {||
            if ($env.__axi.reply | path exists) {
                let text = (__axi_receive 1)
                if $text.put != null { commandline edit --replace $text.put }
            }
        })
        $env.config.hooks.pre_execution = ($env.config.hooks.pre_execution? | default [] | append {||
            let line = (commandline)
            if $line not-in ['' __axi_hand_over] {
                # One that begins with a blank is not told.
                $env.__axi.ran = (if ($line | str starts-with ' ') { '' } else { $line })
                $env.__axi.seconds = null
            }
        })
    }
    let stroke = ($__axi_key | split row ' ')
    let others = ($env.config.keybindings | where {|it|
        $it.name? != axi and $it.modifier =~ $"\(?i)^($stroke.0)$" and $it.keycode =~ $"\(?i)^($stroke.1?)$"
    })
    # A key that somebody else owns stays theirs, unless the person names it.
    let state = (if $__axi_key == '' {
        'none -'
    } else if $__axi_chosen == '' and ($others | is-not-empty) {
        $"taken ($others.0.name? | default keybinding | str replace --all ' ' '_')"
    } else {
        'bound -'
    })
    $env.config.keybindings = ($env.config.keybindings | where {|it| $it.name? != axi })
    if $state == 'bound -' {
        $env.config.keybindings ++= [{
            name: axi
            modifier: $stroke.0
            keycode: $stroke.1
            mode: [emacs vi_insert vi_normal]
            event: {send: executehostcommand, cmd: __axi_hand_over}
        }]
    }
    $env.AXI_HOOK = $"1 nu ((version).version) ($__axi_key_name) ($state) - -"
}
