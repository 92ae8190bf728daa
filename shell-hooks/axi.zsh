# axi in zsh: Ctrl+G hands the line to the agent; a command it proposes comes back on the next prompt line.
# `axi init zsh` prints this with the settings in front. To uninstall, remove the line that loads it.
#
# The line is submitted, not hosted: the widget saves it and lets the shell run a plain `axi handoff` through its own
# accept-line, so that job control, terminal modes and prompt marks are the shell's. Only builtins run at a prompt.
# This is what a shell needs at its start; what the keys run is a text (keys.zsh) until the first of them is pressed.
if [[ -o interactive && -o zle ]]; then

: "${_axi_program:=axi}" "${_axi_key=^g}" "${_axi_key_name=ctrl-g}" "${_axi_rewrite_keys=^[g ^x^g}"
# The same process keeps its conversation (a hook loaded again, exec zsh); a shell inside a shell gets its own.
[[ ${AXI_SESSION-} == *-$$-* ]] || export AXI_SESSION=$RANDOM$RANDOM-$$-$RANDOM$RANDOM
_axi_state=${XDG_STATE_HOME:-${HOME-}/.local/state}/axi
_axi_reply=${XDG_RUNTIME_DIR:-$_axi_state}/axi/$AXI_SESSION.reply
_axi_began= _axi_typed= _axi_command= _axi_status=0 _axi_seconds= _axi_submitted= _axi_handed= _axi_latest= _axi_owner=
# Functions of plugins, for `axi doctor`.
_axi_watched=(_zsh_autosuggest_start _zsh_highlight omz p10k zvm_init starship_precmd prompt_starship_precmd
  _atuin_precmd fzf-history-widget _direnv_hook _navi_widget __zoxide_hook _zoxide_hook)

_axi_preexec() {
  _axi_began=${(%):-%D{%s.%3.}} _axi_typed=${1:-${3-}}
  # What the shell was told to forget is not kept here either.
  if [[ -o hist_ignore_space && $_axi_typed == ' '* ]]; then _axi_typed=; fi
  # `axi doctor` is told who else is here, by now.
  if [[ ${3-} == *axi* ]]; then _axi_load; _axi_tell_hook; fi
}

_axi_precmd() {
  local code=$?
  if [[ -n $_axi_began ]]; then
    if [[ -z $_axi_submitted ]]; then
      local now=${(%):-%D{%s.%3.}}
      local -F 3 spent=$(( now - _axi_began ))
      if [[ -n $_axi_typed ]]; then _axi_latest=$_axi_typed; fi
      _axi_command=$_axi_typed _axi_status=$code _axi_seconds=$spent
    else
      _axi_settle $code
    fi
    _axi_began= _axi_submitted=
  fi
  if [[ -n ${_axi_new-} ]]; then
    _axi_new=
    if [[ -n $_axi_owner || -n ${ZELLIJ-} ]]; then _axi_load; _axi_warn; fi
  fi
  if [[ -n $_axi_handed && -e $_axi_reply ]]; then _axi_receive; fi
  return 0
}

# The person's text goes into the history, our command does not.
_axi_addhistory() {
  if [[ -z $_axi_submitted ]]; then return 0; fi
  _axi_keep
}

_axi_load() {
  setopt local_options no_aliases # The person's aliases are not for these functions.
  if [[ -n ${_axi_keys-} ]]; then eval "$_axi_keys"; fi
  _axi_keys= _axi_handed=1
}

_axi_handoff() { _axi_load; _axi_hand_over; }
_axi_rewrite() { _axi_load; _axi_rewrite_line; }

# Binds the keys in the main editing keymaps: search, menus and pagers keep their abort. A key that somebody else owns
# stays theirs; what the shell itself binds it to may go.
_axi_bind() {
  emulate -L zsh
  local map key owner widget
  local -a asked reply
  for map in emacs viins vicmd; do
    for key in $_axi_key ${(s: :)_axi_rewrite_keys}; do
      # Alt+G in vi's keymaps would be ESC and a quick g.
      if [[ $map == emacs || $key == $_axi_key || $key != '^['* ]]; then asked+=($map $key); fi
    done
  done
  _axi_owners $asked
  for map key in $asked; do
    owner=${${reply[1]#*\" }%% *} widget=axi-rewrite
    shift reply
    if [[ $key == $_axi_key ]]; then widget=axi-handoff; fi
    case $owner in
      '' | undefined-key | self-insert | send-break | list-expand | get-line | axi-*) bindkey -M $map $key $widget ;;
      *)
        if [[ $widget == axi-rewrite ]]; then continue; fi
        # A key that the person names is the person's to give.
        if [[ -n ${_axi_chosen-} ]]; then bindkey -M $map $key $widget; else _axi_owner=$owner; fi ;;
    esac
  done
  # What this hook is like and which plugins came before it, for `axi doctor`.
  : "${_axi_before:=${(j:,:)reply:--}}"
  local state=${${_axi_owner:+taken}:-${${_axi_key:+bound}:-none}}
  export AXI_HOOK="1 zsh $ZSH_VERSION ${_axi_key_name:--} $state ${_axi_owner:--} $_axi_before -"
}

# Asks the shell who owns these keys (keymap, key, and so on): one line each in `reply`, then the functions that are
# here. The answer goes through a file without a name, for no process; where that cannot be opened again, a process it
# is.
_axi_owners() {
  local map key
  reply=()
  # Appended: to empty a file first costs its file system more than all the rest. The first line is the empty one.
  { if { for map key; do bindkey -M $map $key; done; typeset +f $_axi_watched } >>/proc/self/fd/3; then :; fi
    reply=("${(@f)$(</proc/self/fd/3)}")
    shift reply
  } 2>/dev/null 3<<<''
  if (( $#reply * 2 < $# )); then
    reply=("${(@f)$(for map key; do bindkey -M $map $key; done; typeset +f $_axi_watched)}")
  fi
}

zle -N axi-handoff _axi_handoff
zle -N axi-rewrite _axi_rewrite
_axi_bind
typeset -ga precmd_functions preexec_functions zshaddhistory_functions
if [[ " ${precmd_functions[*]} " != *' _axi_precmd '* ]]; then
  precmd_functions+=(_axi_precmd) preexec_functions+=(_axi_preexec) zshaddhistory_functions+=(_axi_addhistory)
  _axi_new=1
fi

fi
