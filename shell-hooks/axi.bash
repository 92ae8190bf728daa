# axi in bash: Ctrl+G hands the line to the agent; a command it proposes comes back on the next prompt line.
# `axi init bash` prints this with the settings in front. To uninstall, remove the line that loads it.
#
# The line is submitted, not hosted: the key is a macro of two steps. The first saves the line and puts a plain
# `axi handoff` in its place, the second is accept-line, so that job control and terminal modes are the shell's. The
# way back is a question to the terminal (CSI 5 n) at the end of one prompt: its answer is a key that fills the line.
# No DEBUG trap; only builtins run at a prompt.
# shellcheck disable=SC2016,SC2034,SC2154
if [[ $- == *i* && (-o emacs || -o vi) ]]; then

  : "${__axi_program:=axi}" "${__axi_key=\C-g}" "${__axi_key_name=ctrl-g}" "${__axi_rewrite_keys=\eg \C-x\C-g}"
  # The same process keeps its conversation (a hook loaded again, exec bash); a shell inside a shell gets its own.
  [[ ${AXI_SESSION-} == *-$$-* ]] || export AXI_SESSION=${EPOCHSECONDS:-$RANDOM$RANDOM}-$$-$RANDOM
  __axi_state=${XDG_STATE_HOME:-${HOME-}/.local/state}/axi
  __axi_reply=${XDG_RUNTIME_DIR:-$__axi_state}/axi/$AXI_SESSION.reply
  __axi_ask='\[\e[5n\]' __axi_none='' __axi_text='' __axi_owner='' __axi_submitted='' __axi_ignored=''
  __axi_began=0 __axi_ended=0 __axi_number='' __axi_fresh='' __axi_known='' __axi_after=''
  __axi_command='' __axi_status=0 __axi_seconds=''
  # 1 while the prompt of a new command is shown: not in `read -e`, not inside an unfinished command.
  __axi_ready=0

  __axi_prompt() {
    local code=$?
    PS1=${PS1%"$__axi_ask"}
    if [[ $__axi_submitted ]]; then
      __axi_settle
      # What kill -9 leaves: hidden cursor, colour, paste marks, kitty's keys.
      if ((code > 130 && code != 146 && code != 148)) && [[ ${TERM-} != dumb ]]; then
        printf '\e[0m\e[?25h\e[?2026l\e[?2004l\e[<u'
      fi
    elif [[ $__axi_ready == 0 || $HISTCMD != "$__axi_number" || -z ${PS0-} ]]; then
      __axi_fresh=1 __axi_after='' __axi_ended=${EPOCHREALTIME-$SECONDS} __axi_known=1
      # It is not in the history (or this bash does not number it here): the same as before, or one that the shell was told to forget.
      if [[ $HISTCMD == "$__axi_number" && (${HISTCONTROL-} == *ignore[sb]* || ${HISTIGNORE-}) ]]; then __axi_known=''; fi
    fi
    __axi_number=$HISTCMD __axi_ready=1
    if [[ ${__axi_new-} ]]; then __axi_started; fi
    if [[ $__axi_text ]]; then __axi_fall_back; fi
    if [[ -e $__axi_reply ]]; then __axi_receive; fi
    if [[ ${PS2-} != *__axi_ready* ]]; then PS2='${__axi_none:$((__axi_ready=0)):0}'${PS2-}; fi
    return "$code"
  }

  # Variables of that one command; argv is for everybody to see.
  __axi_tell() {
    local spent
    if [[ $__axi_fresh ]]; then
      __axi_fresh='' __axi_status=$1 __axi_command='' __axi_seconds=''
      if [[ $__axi_known ]]; then
        __axi_last
        __axi_command=${REPLY:0:4096}
      fi
      if [[ $__axi_began != 0 ]]; then
        printf -v spent '%06d' "$((${__axi_ended/[.,]/} - __axi_began))"
        __axi_seconds=${spent%??????}.${spent: -6}
        __axi_seconds=${__axi_seconds/#./0.}
      fi
    elif [[ $__axi_after && $1 == 0 ]]; then
      # A hand-off that went well has told the command before it; after ESC the next one tells it again.
      __axi_command=''
    fi
    __axi_after=''
    export AXI_REPLY=$__axi_reply AXI_SHELL=bash AXI_SHELL_VERSION=$BASH_VERSION AXI_ALIASES
    export AXI_LAST_COMMAND=$__axi_command AXI_LAST_STATUS=$__axi_status AXI_LAST_SECONDS=$__axi_seconds
    AXI_ALIASES=$(alias)
    AXI_ALIASES=${AXI_ALIASES:0:16384}
  }

  __axi_forget() {
    unset AXI_LINE AXI_REPLY AXI_SHELL AXI_SHELL_VERSION AXI_LAST_COMMAND AXI_LAST_STATUS AXI_LAST_SECONDS AXI_ALIASES
  }

  # The newest entry of the history, without its number.
  __axi_last() {
    REPLY=$(HISTTIMEFORMAT='' builtin history 1)
    REPLY=${REPLY#"${REPLY%%[0-9]*}"}
    __axi_entry=${REPLY%%[!0-9]*}
    REPLY=${REPLY#"$__axi_entry"}
    REPLY=${REPLY#[* ] }
  }

  __axi_handoff() {
    local code=$? shown program
    bind '"\C-x\C-]": ""'
    if [[ $__axi_ready == 0 ]]; then printf '\a'; return; fi
    # Linux gives one variable 128 KiB.
    if ((${#READLINE_LINE} > 30000)); then printf '%s\n' "${__axi_words_long:-axi: the line is too long}"; return; fi
    __axi_tell "$code"
    printf -v program '%q' "$__axi_program"
    if ((BASH_VERSINFO < 4)); then
      # No READLINE_LINE: the line becomes a comment behind our command, which reads it from the history.
      __axi_submitted=1
      bind '"\C-x\C-]": "\C-x\C-^AXI_LINE=\"$(__axi_line)\" '"$program"' handoff # \C-m"'
      return
    fi
    export AXI_LINE=$READLINE_LINE
    # From bash 5 on it can be added here, in time for what records each command that is run.
    if ((BASH_VERSINFO >= 5)); then __axi_keep; fi
    # Our own command never gets into the history.
    __axi_submitted=1 __axi_ignored=${HISTIGNORE+x$HISTIGNORE} HISTIGNORE='*'
    shown=${READLINE_LINE%%$'\n'*}
    shown=${shown//[[:cntrl:]]/ }
    shopt -q interactive_comments || shown=''
    READLINE_LINE=" $program handoff${shown:+ # ${shown:0:400}}"
    READLINE_POINT=${#READLINE_LINE}
    bind '"\C-x\C-]": accept-line'
  }

  __axi_keep() {
    if [[ $AXI_LINE == *[![:space:]]* ]]; then builtin history -s -- "$AXI_LINE"; fi
  }

  __axi_line() {
    __axi_last
    printf '%s' "${REPLY#*handoff # }"
  }

  # After a hand-off, whether it ended or was stopped.
  __axi_settle() {
    if ((BASH_VERSINFO < 4)); then
      AXI_LINE=$(__axi_line)
      # Adding an entry takes the place of the command that is running; without one it must go by its number.
      if [[ $AXI_LINE != *[![:space:]]* ]]; then
        __axi_last
        builtin history -d "$__axi_entry" || :
      fi
    elif [[ $__axi_ignored ]]; then HISTIGNORE=${__axi_ignored#x}; else unset HISTIGNORE; fi
    if ((BASH_VERSINFO < 5)); then __axi_keep; fi
    __axi_forget
    __axi_submitted='' __axi_after=1
  }

  __axi_receive() {
    IFS= read -rd '' __axi_text <"$__axi_reply" || :
    command rm -f -- "$__axi_reply"
    case $__axi_text in
      put$'\n'*) __axi_text=${__axi_text#put$'\n'} ;;
      *) __axi_text='' ; return ;;
    esac
    if ((BASH_VERSINFO < 4)); then
      __axi_fall_back
      return
    fi
    local map
    for map in emacs vi-insert vi-command; do bind -m $map '"\e[0n": "\C-x\C-^"'; done
    PS1+=$__axi_ask
  }

  # The terminal has answered.
  __axi_put() {
    local map
    # A prompt that is painted again asks again: from now on that means nothing.
    for map in emacs vi-insert vi-command; do bind -m $map '"\e[0n": ""'; done
    READLINE_LINE=$__axi_text$READLINE_LINE READLINE_POINT=1000000 __axi_text=''
  }

  # The terminal has never answered.
  __axi_fall_back() {
    builtin history -s -- "$__axi_text"
    __axi_text=''
    printf '%s\n' "${__axi_words_history:-axi: the command is in your history, press up}"
  }

  # Rewrites the line in place: nothing is run, and undo brings the old line back.
  __axi_rewrite() {
    local code=$? answer
    if [[ $__axi_ready == 0 || $READLINE_LINE != *[![:space:]]* ]] || ((${#READLINE_LINE} > 30000)); then return; fi
    __axi_tell "$code"
    code=0
    answer=$(AXI_LINE=$READLINE_LINE "$__axi_program" handoff --rewrite 2>&1 </dev/tty) || code=$?
    __axi_forget
    if ((code == 0)); then
      READLINE_LINE=$answer READLINE_POINT=1000000
    elif ((code != 130)); then
      printf '%s\n' "$answer"
    fi
  }

  # The first prompt: everything is loaded now. Leaves word for `axi doctor`, and says once what the person must know.
  __axi_started() {
    local state=bound text='' told all key free=''
    __axi_new=''
    if [[ -z $__axi_key ]]; then state=none; elif [[ $__axi_owner ]]; then state=taken; fi
    __axi_plugins
    export AXI_HOOK="1 bash $BASH_VERSION ${__axi_key_name:--} $state ${__axi_owner:--} ${__axi_before:--} ${REPLY:--}"
    if [[ $state == taken ]]; then
      text=${__axi_words_taken:-axi: $__axi_key_name belongs to \{owner\}; free: \{keys\}}
    elif [[ ${ZELLIJ-} && $__axi_key == '\C-g' ]]; then
      text=${__axi_words_zellij:-axi: Zellij keeps Ctrl+G; free: \{keys\}}
    fi
    told=$__axi_state/told-bash-$state-${__axi_owner//[!a-zA-Z0-9_-]/}
    if [[ -z $text || -e $told ]]; then return; fi
    all=$(bind -p; bind -s; bind -X 2>/dev/null)
    for key in '\C-x\C-a ctrl-x,ctrl-a' '\ei alt-i' '\ej alt-j'; do
      if [[ $all != *"\"${key% *}\""* ]]; then free+=${free:+, }${key#* }; fi
    done
    text=${text//'{owner}'/$__axi_owner}
    printf '%s\n' "${text//'{keys}'/$free}" >&2
    { command mkdir -p -- "$__axi_state" && : >"$told"; } 2>/dev/null || :
  }

  # Plugins that are here, for `axi doctor`.
  __axi_plugins() {
    local pair
    REPLY=''
    for pair in ble/util/assign:ble.sh __bp_install:bash-preexec starship_precmd:starship __fzf_history__:fzf \
      __atuin_history:atuin _direnv_hook:direnv __zoxide_hook:zoxide; do
      if declare -F "${pair%%:*}" >/dev/null; then REPLY+=${REPLY:+,}${pair#*:}; fi
    done
  }

  # Binds the keys in the main editing keymaps, unless somebody else owns them; what the shell itself binds may go.
  __axi_bind() {
    local map key stock all
    stock=$(bind -m emacs -q abort; bind -m emacs -q glob-complete-word) || :
    stock=${stock//\\M-/\\e}
    if [[ -z ${__axi_chosen-} && $__axi_key && $stock != *"\"$__axi_key\""* ]]; then
      all=$'\n'$(bind -p; bind -s; bind -X 2>/dev/null)
      all=${all##*$'\n'"\"$__axi_key\""}
      all=${all#*[: ] }
      __axi_owner=${all%%[[:space:]]*}
    fi
    for map in emacs vi-insert vi-command; do
      bind -m $map -x '"\C-x\C-_": __axi_handoff'
      bind -m $map '"\C-x\C-]": ""'
      if ((BASH_VERSINFO < 4)); then
        bind -m $map '"\C-x\C-^": beginning-of-line'
      else
        bind -m $map -x '"\C-x\C-^": __axi_put'
      fi
      if [[ -z $__axi_owner && $__axi_key ]]; then bind -m $map "\"$__axi_key\": \"\\C-x\\C-_\\C-x\\C-]\""; fi
      for key in $__axi_rewrite_keys; do
        # Alt+G in vi's keymaps would be ESC and a quick g.
        if ((BASH_VERSINFO < 4)); then break; fi
        if [[ $map == emacs && $stock == *"\"$key\""* || $map != emacs && $key != \\e* ]]; then
          bind -m $map -x "\"$key\": __axi_rewrite"
        fi
      done
    done
  }

  if [[ -z ${__axi_loaded-} ]]; then
    __axi_loaded=1 __axi_new=1
    __axi_plugins
    __axi_before=$REPLY
    __axi_bind
    if ((BASH_VERSINFO > 4 || BASH_VERSINFO == 4 && BASH_VERSINFO[1] >= 4)); then
      if [[ ${EPOCHREALTIME-} ]]; then
        PS0='${__axi_none:$((__axi_ready=0,__axi_began=${EPOCHREALTIME/[.,]/},0)):0}'${PS0-}
      else
        PS0='${__axi_none:$((__axi_ready=0)):0}'${PS0-}
      fi
    fi
    if declare -F __bp_install >/dev/null; then
      precmd_functions+=(__axi_prompt)
    else
      PROMPT_COMMAND=${PROMPT_COMMAND:+$PROMPT_COMMAND$'\n'}__axi_prompt
    fi
  fi

fi
