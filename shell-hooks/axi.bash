# axi in bash: Ctrl+G hands the line to the agent; a command it proposes comes back on the next prompt line.
# `axi init bash` prints this with the settings in front. To uninstall, remove the line that loads it.
#
# The line is submitted, not hosted: the key is a macro of two steps. The first saves the line and puts a plain
# `axi handoff` in its place, the second is accept-line, so that job control and terminal modes are the shell's. The
# way back is a question to the terminal (CSI 5 n) at the end of one prompt: its answer is a key that fills the line.
# No DEBUG trap; only builtins run at a prompt. This is what a shell needs at its start; what the keys run (keys.bash)
# is asked of axi when the first is pressed.
# shellcheck disable=SC2016,SC2034,SC2154
if [[ $- == *i* && (-o emacs || -o vi) && -z ${__axi_loaded-} ]]; then

  # The same process keeps its conversation (exec bash); a shell inside a shell gets its own.
  [[ ${AXI_SESSION-} == *-$$-* ]] || export AXI_SESSION=${EPOCHSECONDS:-$RANDOM$RANDOM}-$$-$RANDOM
  # Ready is 1 while the prompt of a new command is shown: not in `read -e`, not inside an unfinished command.
  __axi_loaded=1 __axi_new=1 __axi_ready=0 __axi_none='' __axi_owner='' __axi_handed='' __axi_vi=''
  __axi_code=0 __axi_began=0 __axi_ended=0 __axi_number='' __axi_fresh='' __axi_known='' __axi_word='' __axi_locked=''

  __axi_prompt() {
    local code=$? word=$_
    if [[ $__axi_new ]]; then
      # Before the first prompt nothing ran here: the newest entry of the history is another shell's.
      __axi_started
    elif [[ $__axi_handed ]] && __axi_returned "$code" "$word"; then
      :
    elif [[ $__axi_ready == 0 || $HISTCMD != "$__axi_number" || -z ${PS0-} ]]; then
      __axi_fresh=1 __axi_ended=${EPOCHREALTIME-$SECONDS} __axi_known=1 __axi_word=$word
      # It is not in the history (or this bash does not number it here): the same as before, or one that the shell was
      # told to forget.
      if [[ $HISTCMD == "$__axi_number" && (${HISTCONTROL-} == *ignore[sb]* || ${HISTIGNORE-}) ]]; then
        __axi_known=perhaps
      fi
    fi
    __axi_number=$HISTCMD __axi_ready=1 __axi_code=$code
    if [[ -o vi && -z $__axi_vi ]]; then __axi_vi=1 && __axi_bind vi-insert vi-command; fi
    if [[ ${PS2-} != *__axi_ready* ]]; then PS2='${__axi_none:$((__axi_ready=0)):0}'${PS2-}; fi
    return "$code"
  }

  # What the keys run, read without the person's aliases in it.
  __axi_load() {
    local text aliases=''
    if ! text=$("$__axi_program" init bash --keys 2 2>&1 </dev/null); then
      printf '%s\n' "$text" >&2
      return 1
    fi
    if shopt -q expand_aliases; then aliases=1; fi
    shopt -u expand_aliases
    eval "$text"
    if [[ $aliases ]]; then shopt -s expand_aliases; fi
  }

  # A prompt of other people's making may hide the exit code from ours, not from a key; under ble.sh it is the other way.
  __axi_handoff() {
    local code=$?
    if [[ ${BLE_VERSION-} ]]; then code=$__axi_code; fi
    # The second step of the key runs nothing unless this one says so.
    bind '"\C-x\C-]": ""'
    if __axi_load; then __axi_hand_over "$code"; fi
  }

  __axi_rewrite() {
    local code=$?
    if [[ ${BLE_VERSION-} ]]; then code=$__axi_code; fi
    if __axi_load; then __axi_rewrite_line "$code"; fi
  }

  # Which functions of plugins are here, with a comma before each.
  __axi_plugins() {
    local name
    REPLY=''
    for name in ble/util/assign __bp_install starship_precmd __fzf_history__ __atuin_history _direnv_hook \
      __zoxide_hook _zoxide_hook; do
      if declare -F "$name"; then REPLY+=,$name; fi
    done >/dev/null
  }

  # The first prompt: everything is loaded now. Tells `axi doctor` what this hook is like and which plugins were here
  # before it and are here now, and the person what must be known, once for all shells.
  __axi_started() {
    local told=''
    __axi_new=''
    __axi_plugins
    export AXI_HOOK="1 bash $BASH_VERSION ${__axi_key_name:--}"
    if [[ $__axi_owner ]]; then
      AXI_HOOK+=" taken $__axi_owner" told=taken-${__axi_owner//[!a-zA-Z0-9_-]/}
    elif [[ $__axi_key ]]; then
      AXI_HOOK+=' bound -'
      if [[ ${ZELLIJ-} && $__axi_key == '\C-g' ]]; then told=zellij; fi
    else
      AXI_HOOK+=' none -'
    fi
    AXI_HOOK+=" ${__axi_before:--} ${REPLY:--}"
    if [[ $told && ! -e ${XDG_STATE_HOME:-${HOME-}/.local/state}/axi/told-bash-$told ]]; then
      if __axi_load; then __axi_warn "$told"; fi
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

  # Which of what the hook sets is readonly: it cannot be made local either.
  __axi_is_locked() {
    for REPLY in PROMPT_COMMAND PS0 PS1 PS2 HISTIGNORE; do local "$REPLY" || return 0; done 2>/dev/null
    return 1
  }

  __axi_plugins
  __axi_before=$REPLY
  if __axi_is_locked; then
    __axi_locked=$REPLY __axi_owner=$REPLY __axi_chosen=1
    export AXI_HOOK="1 bash $BASH_VERSION ${__axi_key_name:--} readonly $REPLY ${__axi_before:--} -"
    if [[ ! -e ${XDG_STATE_HOME:-${HOME-}/.local/state}/axi/told-bash-readonly-$REPLY ]] && __axi_load; then
      __axi_warn "readonly-$__axi_owner"
    fi
  fi
  # The keys that bash itself binds to what may go. It says so through a file without a name, for no process; where
  # that cannot be opened again, a process it is.
  __axi_stock=''
  {
    { bind -m emacs -q abort; bind -m emacs -q glob-complete-word; } >>/proc/self/fd/3 || :
    # A letter at a time, before bash 4.1.
    IFS= read -rN 4000 __axi_stock <&3 || [[ $__axi_stock ]] || IFS= read -rd '' __axi_stock <&3 || :
  } 2>/dev/null 3<<<''
  if [[ $__axi_stock != *C-* ]]; then __axi_stock=$(bind -m emacs -q abort; bind -m emacs -q glob-complete-word) || :; fi
  __axi_stock=${__axi_stock//\\M-/\\e}
  if [[ -z $__axi_chosen && $__axi_key && $__axi_stock != *"\"$__axi_key\""* ]] && __axi_load; then __axi_owned; fi
  if [[ -z $__axi_locked ]]; then __axi_bind emacs; fi
  # Before 4.3, a search would take a key that is a macro for a letter.
  if ((BASH_VERSINFO < 4 || BASH_VERSINFO == 4 && BASH_VERSINFO[1] < 3)); then
    bind 'set isearch-terminators "\e\C-j\C-g"'
  fi
  if [[ -z $__axi_locked ]] && ((BASH_VERSINFO > 4 || BASH_VERSINFO == 4 && BASH_VERSINFO[1] >= 4)); then
    if [[ ${EPOCHREALTIME-} ]]; then
      PS0='${__axi_none:$((__axi_ready=0,__axi_began=${EPOCHREALTIME/[.,]/},0)):0}'${PS0-}
    else
      PS0='${__axi_none:$((__axi_ready=0)):0}'${PS0-}
    fi
  fi
  if [[ $__axi_locked ]]; then
    :
  elif declare -F __bp_install >/dev/null; then
    precmd_functions+=(__axi_prompt)
  else
    PROMPT_COMMAND=${PROMPT_COMMAND:+$PROMPT_COMMAND$'\n'}__axi_prompt
  fi

fi
