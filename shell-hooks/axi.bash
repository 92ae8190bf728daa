# axi in bash: Ctrl+G hands the line to the agent; a command it proposes comes back on the next prompt line.
# `axi init bash` prints this with the settings in front. To uninstall, remove the line that loads it.
#
# The line is submitted, not hosted: the key is a macro of two steps. The first saves the line and puts a plain
# `axi handoff` in its place, the second is accept-line, so that job control and terminal modes are the shell's. The
# way back is a question to the terminal (CSI 5 n) at the end of one prompt: its answer is a key that fills the line.
# No DEBUG trap; only builtins run at a prompt. This is what a shell needs at its start; what the keys run is a text
# (keys.bash) until the first of them is pressed.
# shellcheck disable=SC2016,SC2034,SC2154
if [[ $- == *i* && (-o emacs || -o vi) ]]; then

  : "${__axi_program:=axi}" "${__axi_key=\C-g}" "${__axi_key_name=ctrl-g}" "${__axi_rewrite_keys=\eg \C-x\C-g}"
  # The same process keeps its conversation (a hook loaded again, exec bash); a shell inside a shell gets its own.
  [[ ${AXI_SESSION-} == *-$$-* ]] || export AXI_SESSION=${EPOCHSECONDS:-$RANDOM$RANDOM}-$$-$RANDOM
  __axi_state=${XDG_STATE_HOME:-${HOME-}/.local/state}/axi
  __axi_reply=${XDG_RUNTIME_DIR:-$__axi_state}/axi/$AXI_SESSION.reply
  __axi_ask='\[\e[5n\]' __axi_none='' __axi_text='' __axi_owner='' __axi_submitted='' __axi_ignored='' __axi_handed=''
  __axi_began=0 __axi_ended=0 __axi_number='' __axi_fresh='' __axi_known='' __axi_after=''
  __axi_command='' __axi_status=0 __axi_seconds='' __axi_word='' __axi_vi='' __axi_code=0
  # 1 while the prompt of a new command is shown: not in `read -e`, not inside an unfinished command.
  __axi_ready=0

  __axi_prompt() {
    local code=$? word=$_
    PS1=${PS1%"$__axi_ask"}
    if [[ $__axi_submitted ]]; then
      __axi_settle "$code"
    elif [[ -z ${__axi_new-} && ($__axi_ready == 0 || $HISTCMD != "$__axi_number" || -z ${PS0-}) ]]; then
      # Before the first prompt nothing ran here: the newest entry of the history is another shell's.
      __axi_fresh=1 __axi_after='' __axi_ended=${EPOCHREALTIME-$SECONDS} __axi_known=1 __axi_word=$word
      # It is not in the history (or this bash does not number it here): the same as before, or one that the shell was
      # told to forget.
      if [[ $HISTCMD == "$__axi_number" && (${HISTCONTROL-} == *ignore[sb]* || ${HISTIGNORE-}) ]]; then
        __axi_known=perhaps
      fi
    fi
    __axi_number=$HISTCMD __axi_ready=1 __axi_code=$code
    if [[ ${__axi_new-} ]]; then __axi_started; fi
    if [[ -o vi && -z $__axi_vi ]]; then __axi_vi=1 && __axi_bind vi-insert vi-command; fi
    if [[ $__axi_text ]]; then __axi_fall_back; fi
    if [[ $__axi_handed && -e $__axi_reply ]]; then __axi_receive; fi
    if [[ ${PS2-} != *__axi_ready* ]]; then PS2='${__axi_none:$((__axi_ready=0)):0}'${PS2-}; fi
    return "$code"
  }

  # What the keys run is read now, without the person's aliases in it.
  __axi_load() {
    if [[ $__axi_handed ]]; then return; fi
    __axi_handed=1
    local __axi_keys aliases=''
    if shopt -q expand_aliases; then aliases=1; fi
    shopt -u expand_aliases
    __axi_read_keys
    eval "$__axi_keys"
    if [[ $aliases ]]; then shopt -s expand_aliases; fi
  }

  __axi_handoff() {
    local code=$?
    # Under ble.sh a key does not find the exit code of the last command, the prompt does.
    if [[ ${BLE_VERSION-} ]]; then code=$__axi_code; fi
    __axi_load
    __axi_hand_over "$code"
  }

  __axi_rewrite() {
    local code=$?
    if [[ ${BLE_VERSION-} ]]; then code=$__axi_code; fi
    __axi_load
    __axi_rewrite_line "$code"
  }

  # The first prompt: everything is loaded now. Tells `axi doctor` what this hook is like and which functions of plugins
  # were here before it and are here now.
  __axi_started() {
    local state=bound
    __axi_new=''
    if [[ -z $__axi_key ]]; then state=none; elif [[ $__axi_owner ]]; then state=taken; fi
    __axi_hears __axi_plugins
    export AXI_HOOK="1 bash $BASH_VERSION ${__axi_key_name:--} $state ${__axi_owner:--} ${__axi_before:--} ${REPLY:--}"
    if [[ $state == taken || ${ZELLIJ-} ]]; then
      __axi_load
      __axi_warn
    fi
  }

  __axi_plugins() {
    declare -F ble/util/assign __bp_install starship_precmd __fzf_history__ __atuin_history _direnv_hook __zoxide_hook \
      _zoxide_hook
  }

  # The keys that bash itself binds to what may go, and the plugins.
  __axi_first() {
    bind -m emacs -q abort
    bind -m emacs -q glob-complete-word
    echo plugins
    __axi_plugins
  }

  # What a function says, its lines with a comma between. It goes through a file without a name, for no process; where
  # that cannot be opened again, a process it is.
  __axi_hears() {
    REPLY=''
    {
      "$1" >>/proc/self/fd/3 || :
      IFS= read -rd '' REPLY <&3 || :
    } 2>/dev/null 3<<<''
    if [[ -z $REPLY ]]; then REPLY=$'\n'$("$1" || :)$'\n'; fi
    REPLY=${REPLY#?}
    REPLY=${REPLY%?}
    REPLY=${REPLY//$'\n'/,}
  }

  # Whether the key is free: nobody's but the shell's own.
  __axi_look() {
    __axi_hears __axi_first
    __axi_before=${REPLY##*plugins}
    __axi_before=${__axi_before#,}
    __axi_stock=${REPLY//\\M-/\\e}
    if [[ -z ${__axi_chosen-} && $__axi_key && $__axi_stock != *"\"$__axi_key\""* ]]; then
      __axi_load
      __axi_owned
    fi
  }

  # Binds the keys in these keymaps, unless somebody else owns them; what the shell itself binds may go.
  __axi_bind() {
    local map key
    for map; do
      bind -m "$map" -x '"\C-x\C-_": __axi_handoff'
      if [[ -z $__axi_owner && $__axi_key ]]; then bind -m "$map" "\"$__axi_key\": \"\\C-x\\C-_\\C-x\\C-]\""; fi
      # Without READLINE_LINE nothing is rewritten.
      if ((BASH_VERSINFO < 4)); then continue; fi
      for key in $__axi_rewrite_keys; do
        # Alt+G in vi's keymaps would be ESC and a quick g.
        if [[ $map == emacs && $__axi_stock == *"\"$key\""* || $map != emacs && $key != \\e* ]]; then
          bind -m "$map" -x "\"$key\": __axi_rewrite"
        fi
      done
    done
  }

  if [[ -z ${__axi_loaded-} ]]; then
    __axi_loaded=1 __axi_new=1
    __axi_look
    __axi_bind emacs
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
