# axi in bash: Ctrl+G hands the line to the agent; a command it proposes comes back on the next prompt line.
# `axi init bash` prints this with the settings in front. To uninstall, remove the line that loads it.
#
# The line is submitted, not hosted: the key is a macro of two steps. The first saves the line and puts a plain
# `axi handoff` in its place, the second is accept-line, so that job control and terminal modes are the shell's; what is
# on the line then is what bash shows. The way back is a question to the terminal (CSI 5 n) at the end of one prompt:
# its answer is a key that fills the line. No DEBUG trap; only builtins run at a prompt. This is what a shell needs at
# its start, where each character costs it time; what the keys run (keys.bash) is asked of axi when one is pressed.
# shellcheck disable=SC2016,SC2034,SC2154
if [[ $- == *i* && (-o emacs || -o vi) && -z ${__axi_code-} ]]; then

  # The same process keeps its conversation (exec bash); a shell inside a shell gets its own.
  [[ ${AXI_SESSION-} == *-$$-* ]] || export AXI_SESSION=${EPOCHSECONDS:-$RANDOM$RANDOM}-$$-$RANDOM

  # While the prompt of a new command is shown, three are empty: since is when a command began (PS0 sets it), inside that
  # the line is not its first (PS2), empty that nothing ran before this prompt (Ctrl+C). Next is what the next prompt has to do.
  __axi_code=0 __axi_since=0 __axi_inside='' __axi_empty='' __axi_word='' __axi_ran='' __axi_old='' __axi_number='' __axi_every=''
  __axi_next=__axi_started __axi_vi='' __axi_one=- __axi_new='' __axi_state='none -' __axi_stock=()

  # A call copies the body, so it is short.
  __axi_prompt() {
    __axi_code=$? __axi_word=$_ __axi_inside=''
    if [[ $__axi_since || $__axi_every ]]; then
      __axi_ran="$__axi_since $__axi_code ${EPOCHREALTIME-0} $__axi_word" __axi_since='' __axi_empty=''
      __axi_old=$__axi_number __axi_number=$HISTCMD
    else
      __axi_empty=1
    fi
    if [[ $__axi_next || -o vi && -z $__axi_vi ]]; then "${__axi_next:-__axi_bind_vi}"; fi
    return "$__axi_code"
  }

  # Reads what the keys run, and runs one of its functions with the exit code. A prompt of other people's making may
  # hide that from ours, not from a key.
  __axi_key() {
    local code=$? text
    # Under ble.sh a key does not see the exit code, a prompt does.
    if [[ ${BLE_VERSION-} ]]; then code=$__axi_code; fi
    # The second step of the key runs nothing unless the first says so.
    bind '"\C-x\C-]": ""'
    if text=$("$__axi_program" init bash --keys 4 2>&1 </dev/null); then
      eval "$text"
      "$1" "$code"
    else
      printf '%s\n' "$text" >&2
    fi
  }

  # The first prompt: everything is loaded now. Tells `axi doctor` what this hook is like and which plugins were here
  # before it and are here now.
  __axi_started() {
    local name now='' IFS=,
    __axi_next='' __axi_since='' __axi_ran='' __axi_number=$HISTCMD
    for name in "${__axi_watched[@]}"; do
      if declare -F "$name"; then now+=,$name; fi
    done &>/dev/null
    export AXI_HOOK="1 bash $BASH_VERSION $__axi_key_name $__axi_state -,${__axi_stock[*]:3} -$now"
    # Both come to nothing on the screen. Where no PS0 tells that a command begins, any prompt may be the end of one.
    if shopt -q promptvars; then
      PS0='${__axi_one#[-${__axi_since:=${EPOCHREALTIME-0}}]}'${PS0-}
      PS2='${__axi_one:__axi_inside=1:0}'${PS2-}
    else
      __axi_every=1
    fi
    if ((BASH_VERSINFO * 100 + BASH_VERSINFO[1] < 404)); then __axi_every=1; fi
    if [[ -o vi ]]; then __axi_bind_vi; fi
    if [[ $__axi_new && ! -e ${XDG_STATE_HOME:-${HOME-}/.local/state}/axi/told-bash-$__axi_new ]]; then
      __axi_key __axi_warn
    fi
  }

  # Binds the keys in a keymap. In vi's, Alt+G would be ESC and a quick g; without READLINE_LINE nothing is rewritten.
  __axi_bind() {
    local key
    bind -m "$1" -x '"\C-x\C-_": __axi_key __axi_hand_over'
    if [[ $__axi_state == bound* ]]; then bind -m "$1" "\"$__axi_key\": \"\\C-x\\C-_\\C-x\\C-]\""; fi
    for key in ${__axi_rewrite_keys[@]+"${__axi_rewrite_keys[@]}"}; do
      if ((BASH_VERSINFO > 3)) && if [[ $1 == emacs ]]; then __axi_free "$key"; else [[ $key != \\e* ]]; fi; then
        bind -m "$1" -x "\"$key\": __axi_key __axi_rewrite_line"
      fi
    done
  }
  __axi_bind_vi() {
    __axi_vi=1
    __axi_bind vi-insert
    __axi_bind vi-command
  }
  # Whether a key is bash's own still. It says \M-g or \eg.
  __axi_free() {
    case $1 in
      \\e*) [[ ${__axi_stock[2]} == *[-e]"${1#??}"\"* ]] ;;
      *) [[ ${__axi_stock[1]} == *"\"$1\""* ]] ;;
    esac
  }

  # What bash itself binds to two functions, and which plugins are here. What cannot be made local is readonly, and the
  # hook could not set it.
  __axi_tells() {
    local PROMPT_COMMAND PS0 PS1 PS2 HISTIGNORE || __axi_state='readonly'
    bind -m emacs -q abort
    bind -m emacs -q glob-complete-word
    declare -F "${__axi_watched[@]}"
  }
  # A search takes Ctrl+G for a letter where it is a macro (any other key ends it and runs on what it found, as each of
  # bash does). Only its own function aborts it: the line that was found stays, and Alt+> brings back what stood there.
  __axi_end_searches() {
    local name=$'\nset isearch-terminators ' all=''
    # In one piece: line by line would be a system call for each letter.
    {
      bind -v >>/proc/self/fd/3 || :
      IFS='' read -rN 9999 -u 3 all || :
    } 2>/dev/null 3<<<''
    if [[ $all != *set* ]]; then all=$(bind -v); fi
    if [[ $all == *"$name"* ]]; then all=${all##*"$name"} all=${all%%$'\n'*}; else all='\e\C-j'; fi
    bind "set isearch-terminators \\C-g$all"
  }
  __axi_watched=(ble/util/assign __bp_install starship_precmd __fzf_history__ __atuin_history _direnv_hook
    __zoxide_hook _zoxide_hook)
  # It says so through a file without a name, for no process; where that cannot be opened again, a process it is.
  {
    __axi_tells >>/proc/self/fd/3 || :
    mapfile -tu 3 __axi_stock || :
    if [[ ${__axi_stock[1]-} != *C-* ]]; then IFS=$'\n' read -rd '' -a __axi_stock <<<"-"$'\n'"$(__axi_tells)" || :; fi
  } 2>/dev/null 3<<<''
  if [[ $__axi_state == readonly ]]; then
    __axi_key __axi_locked
  else
    # A key that somebody else owns stays theirs.
    if [[ $__axi_key && -z $__axi_chosen ]] && ! __axi_free "$__axi_key"; then
      __axi_key __axi_owned
    elif [[ $__axi_key ]]; then
      __axi_state='bound -'
      if [[ ${ZELLIJ-} && $__axi_key == '\C-g' ]]; then __axi_new=zellij; fi
    fi
    __axi_bind emacs
    if [[ $__axi_state == bound* && $__axi_key == '\C-g'* ]]; then __axi_end_searches; fi
    if declare -F __bp_install >/dev/null; then
      precmd_functions+=(__axi_prompt)
    else
      PROMPT_COMMAND=${PROMPT_COMMAND:+$PROMPT_COMMAND$'\n'}__axi_prompt
    fi
  fi

fi
