# axi in zsh: Ctrl+G hands the line to the agent; a command it proposes comes back on the next prompt line.
# `axi init zsh` prints this with the settings in front. To uninstall, remove the line that loads it.
#
# The line is submitted, not hosted: the widget saves it and lets the shell run a plain `axi handoff` through its own
# accept-line, so that job control, terminal modes and prompt marks are the shell's. Only builtins run at a prompt.
if [[ -o interactive && -o zle ]]; then

: "${_axi_program:=axi}" "${_axi_key=^g}" "${_axi_key_name=ctrl-g}" "${_axi_rewrite_keys=^[g ^x^g}"
# The same process keeps its conversation (a hook loaded again, exec zsh); a shell inside a shell gets its own.
[[ ${AXI_SESSION-} == *-$$-* ]] || export AXI_SESSION=${(%):-%D{%s}}-$$-$RANDOM
_axi_state=${XDG_STATE_HOME:-${HOME-}/.local/state}/axi
_axi_reply=${XDG_RUNTIME_DIR:-$_axi_state}/axi/$AXI_SESSION.reply
_axi_began= _axi_typed= _axi_command= _axi_status=0 _axi_seconds= _axi_submitted= _axi_frozen= _axi_latest= _axi_owner=

_axi_preexec() {
  _axi_began=${(%):-%D{%s.%3.}} _axi_typed=${1:-${3-}}
  # What the shell was told to forget is not kept here either.
  if [[ -o hist_ignore_space && $_axi_typed == ' '* ]]; then _axi_typed=; fi
}

_axi_precmd() {
  local code=$? text= now=${(%):-%D{%s.%3.}}
  if [[ -n $_axi_began ]]; then
    if [[ -z $_axi_submitted ]]; then
      local -F 3 spent=$(( now - _axi_began ))
      if [[ -n $_axi_typed ]]; then _axi_latest=$_axi_typed; fi
      _axi_command=$_axi_typed _axi_status=$code _axi_seconds=$spent
    else
      # A hand-off that went well has told the command before it; after ESC the next one tells it again.
      if (( code == 0 )); then _axi_command=; fi
      _axi_forget
      if [[ $_axi_frozen == *not* ]]; then ttyctl -u; fi
      # What kill -9 leaves: hidden cursor, colour, paste marks, kitty's keys.
      if (( code > 130 && code != 146 && code != 148 )) && [[ ${TERM-} != dumb ]]; then
        print -n '\e[0m\e[?25h\e[?2026l\e[?2004l\e[<u'
      fi
    fi
    _axi_began= _axi_submitted=
  fi
  if [[ -n ${_axi_new-} ]]; then _axi_started; fi
  if [[ -e $_axi_reply ]]; then
    IFS= read -rd '' text <$_axi_reply || :
    command rm -f -- $_axi_reply
    if [[ $text == put$'\n'* ]]; then print -rz -- "${text#put$'\n'}"; fi
  fi
  return 0
}

# Variables of that one command; argv is for everybody to see.
_axi_tell() {
  export AXI_LINE=$BUFFER AXI_REPLY=$_axi_reply AXI_SHELL=zsh AXI_SHELL_VERSION=$ZSH_VERSION
  export AXI_LAST_COMMAND=${_axi_command[1,4096]} AXI_LAST_STATUS=$_axi_status AXI_LAST_SECONDS=$_axi_seconds
  export AXI_ALIASES="$(alias)"
  AXI_ALIASES=${AXI_ALIASES[1,16384]}
}

_axi_forget() {
  unset AXI_LINE AXI_REPLY AXI_SHELL AXI_SHELL_VERSION AXI_LAST_COMMAND AXI_LAST_STATUS AXI_LAST_SECONDS AXI_ALIASES
}

_axi_fits() {
  setopt local_options no_multibyte
  # Linux gives one variable 128 KiB.
  (( $#BUFFER < 120000 )) || { zle -M -- "${_axi_words_long:-axi: the line is too long}"; return 1; }
}

_axi_handoff() {
  emulate -L zsh
  case $CONTEXT in
    start) ;;
    # Inside an unfinished command: all of it comes into the editor first, and the key again hands that over.
    cont) zle .push-line-or-edit; return 0 ;;
    *) return 1 ;;
  esac
  _axi_fits || return 0
  _axi_tell
  # Whatever ends the job, kill -9 too, the shell gives the terminal its own mode back.
  _axi_frozen=$(ttyctl)
  ttyctl -f
  # accept-line leaves the person's text on the screen; then the line editor's last hook swaps what is run.
  if zle -l zle-line-finish; then zle -A zle-line-finish _axi-line-finish; fi
  zle -N zle-line-finish _axi_finish
  zle .accept-line
}

_axi_finish() {
  zle -D zle-line-finish
  if zle -l _axi-line-finish; then
    zle -A _axi-line-finish zle-line-finish
    zle -D _axi-line-finish
    zle zle-line-finish
  fi
  POSTDISPLAY= _axi_submitted=" ${(q)_axi_program} handoff"
  zle -I
  if [[ -o correct_all ]]; then BUFFER=" nocorrect$_axi_submitted"; else BUFFER=$_axi_submitted; fi
}

# The person's text goes into the history as the shell's options and hooks would have it, our command does not.
_axi_addhistory() {
  if [[ -z $_axi_submitted ]]; then return 0; fi
  local hook keep=1
  if [[ $AXI_LINE != *[![:space:]]* ]] || [[ -o hist_ignore_space && $AXI_LINE == ' '* ]]; then keep=; fi
  if [[ -o hist_ignore_dups && $AXI_LINE == "$_axi_latest" ]]; then keep=; fi
  for hook in zshaddhistory "${zshaddhistory_functions[@]-}"; do
    if [[ -n $keep && -n $hook && $hook != _axi_addhistory ]] && (( ${+functions[$hook]} )); then
      $hook "$AXI_LINE"$'\n' || keep=
    fi
  done
  if [[ -n $keep ]]; then print -rs -- "$AXI_LINE"; _axi_latest=$AXI_LINE; fi
  # The line that is running is saved in a list of its own, which the shell drops at once.
  fc -p
}

# Rewrites the line in place: nothing is run, and undo brings the old line back.
_axi_rewrite() {
  emulate -L zsh
  setopt local_traps
  [[ $CONTEXT == start && $BUFFER == *[![:space:]]* ]] && _axi_fits || return 0
  trap '' INT # Ctrl+C is a key that axi reads.
  local at=$CURSOR code=0 answer=
  CURSOR=$#BUFFER POSTDISPLAY=
  zle -R ' ' # Makes the row that axi draws on; the cursor goes back exactly where the line editor left it.
  _axi_tell
  print -n '\e7\r\n' >/dev/tty
  answer="$("$_axi_program" handoff --rewrite 2>&1 </dev/tty)" || code=$?
  print -n '\e8' >/dev/tty
  _axi_forget
  CURSOR=$at
  if (( code == 0 )); then
    BUFFER=$answer CURSOR=$#answer
  elif (( code != 130 )); then
    zle -M -- "$answer"
  fi
}

# Binds a key in a keymap unless somebody else owns it; what the shell itself binds it to may go.
_axi_bind() {
  local words=(${(z)4})
  case ${words[2]-} in
    '' | undefined-key | self-insert | send-break | list-expand | get-line | axi-*)
      if [[ -n $3 ]]; then bindkey -M $1 $2 $3; else _axi_free+=($2); fi ;;
    *)
      if [[ $3 == axi-handoff ]]; then
        if [[ -n ${_axi_chosen-} ]]; then bindkey -M $1 $2 $3; else _axi_owner=${words[2]}; fi
      fi ;;
  esac
}

# The main editing keymaps only: search, menus and pagers keep their abort.
_axi_bind_all() {
  emulate -L zsh
  local map key owners
  local -a asked
  for map in emacs viins vicmd; do
    if [[ -n $_axi_key ]]; then asked+=($map $_axi_key axi-handoff); fi
    for key in ${(s: :)_axi_rewrite_keys}; do
      # Alt+G in vi's keymaps would be ESC and a quick g.
      if [[ $map == emacs || $key != '^['* ]]; then asked+=($map $key axi-rewrite); fi
    done
  done
  if (( $#asked )); then _axi_ask "${asked[@]}"; fi
}

# Asks the shell who owns some keys, in one go, and binds them.
_axi_ask() {
  local map key widget
  local -a owners=("${(@f)"$(for map key widget; do bindkey -M $map $key; done)"}")
  for map key widget; do
    _axi_bind $map $key "$widget" "${owners[1]}"
    shift owners
  done
}

# Plugins that are here, for `axi doctor`.
_axi_plugins() {
  local pair
  REPLY=
  for pair in _zsh_autosuggest_start:zsh-autosuggestions _zsh_highlight:zsh-syntax-highlighting omz:oh-my-zsh \
    p10k:powerlevel10k zvm_init:zsh-vi-mode starship_precmd:starship prompt_starship_precmd:starship \
    _atuin_precmd:atuin fzf-history-widget:fzf _direnv_hook:direnv _navi_widget:navi; do
    if typeset -f ${pair%%:*} >/dev/null; then REPLY+=${REPLY:+,}${pair#*:}; fi
  done
}

# The first prompt: everything is loaded now. Leaves word for `axi doctor`, and says once what the person must know.
_axi_started() {
  emulate -L zsh
  local state=bound text= told REPLY
  _axi_new=
  if [[ -z $_axi_key ]]; then state=none; elif [[ -n $_axi_owner ]]; then state=taken; fi
  _axi_plugins
  export AXI_HOOK="1 zsh $ZSH_VERSION ${_axi_key_name:--} $state ${_axi_owner:--} ${_axi_before:--} ${REPLY:--}"
  if [[ $state == taken ]]; then
    text=${_axi_words_taken:-axi: $_axi_key_name belongs to \{owner\}; free: \{keys\}}
  elif [[ -n ${ZELLIJ-} && $_axi_key == '^g' ]]; then
    text=${_axi_words_zellij:-axi: Zellij keeps Ctrl+G; free: \{keys\}}
  fi
  told=$_axi_state/told-zsh-$state-${_axi_owner//[^[:alnum:]-]/}
  if [[ -z $text || -e $told ]]; then return 0; fi
  local -a _axi_free
  _axi_ask emacs '^x^a' '' emacs '^[i' '' emacs '^[j' ''
  _axi_free=("${_axi_free[@]/#^x^a/ctrl-x ctrl-a}")
  _axi_free=("${(@)_axi_free/#^\[/alt-}")
  text=${${text//\{owner\}/$_axi_owner}//\{keys\}/${(j:, :)_axi_free}}
  print -ru2 -- "$text"
  { command mkdir -p -- $_axi_state && : >$told } 2>/dev/null
}

zle -N axi-handoff _axi_handoff
zle -N axi-rewrite _axi_rewrite
_axi_bind_all
typeset -ga precmd_functions preexec_functions zshaddhistory_functions
if [[ " ${precmd_functions[*]} " != *' _axi_precmd '* ]]; then
  precmd_functions+=(_axi_precmd) preexec_functions+=(_axi_preexec) zshaddhistory_functions+=(_axi_addhistory)
  _axi_new=1
  _axi_plugins
  _axi_before=$REPLY
fi

fi
