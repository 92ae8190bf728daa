# axi in zsh: Ctrl+G hands the line to the agent; a command it proposes comes back on the next prompt line.
# `axi init zsh` prints this with the settings in front. To uninstall, remove the line that loads it.
#
# The line is submitted, not hosted: the widget saves it and lets the shell run a plain `axi handoff` through its own
# accept-line, so that job control, terminal modes and prompt marks are the shell's. Only builtins run at a prompt.
# This is what a shell needs at its start; what the keys run (keys.zsh) is asked of axi when the first is pressed.
if [[ -o interactive && -o zle ]]; then

# The same process keeps its conversation (a hook loaded again, exec zsh); a shell inside a shell gets its own.
[[ ${AXI_SESSION-} == *-$$-* ]] || export AXI_SESSION=$RANDOM$RANDOM-$$-$RANDOM$RANDOM
_axi_began= _axi_since= _axi_ended= _axi_typed= _axi_command= _axi_status=0 _axi_latest= _axi_handed= _axi_owner= _axi_new= _axi_menus=
# Functions of plugins, for `axi doctor`.
_axi_watched=(_zsh_autosuggest_start _zsh_highlight omz p10k zvm_init starship_precmd prompt_starship_precmd
  _atuin_precmd fzf-history-widget _direnv_hook _navi_widget __zoxide_hook _zoxide_hook)

_axi_preexec() {
  _axi_began=${(%):-%D{%s.%3.}} _axi_typed=${1:-${3-}}
  # What the shell was told to forget is not kept here either.
  if [[ -o hist_ignore_space && $_axi_typed == ' '* ]]; then _axi_typed=; fi
  # `axi doctor` is told who else is here, by now.
  if [[ ${3-} == *axi*doctor* ]] && _axi_load; then _axi_tell_hook; fi
}

_axi_precmd() {
  local code=$?
  if [[ -n $_axi_handed ]] && _axi_returned $code; then :
  elif [[ -n $_axi_began ]]; then
    _axi_since=$_axi_began _axi_ended=${(%):-%D{%s.%3.}}
    _axi_command=$_axi_typed _axi_status=$code _axi_latest=${_axi_typed:-$_axi_latest}
  fi
  _axi_began=
  if [[ -n $_axi_new ]]; then
    code=$_axi_new _axi_new=
    if _axi_load; then _axi_warn $code; fi
  fi
  return 0
}

_axi_load() {
  setopt local_options no_aliases # The person's aliases are not for these functions.
  local text
  if text=$("$_axi_program" init zsh --keys 2 2>&1 </dev/null); then
    eval "$text"
  elif zle; then
    zle -M -- "$text"
    return 1
  else
    print -ru2 -- "$text"
    return 1
  fi
}

_axi_handoff() { if _axi_load; then _axi_hand_over; fi }
_axi_rewrite() { if _axi_load; then _axi_rewrite_line; fi }

# Binds the keys in the main editing keymaps: search, menus and pagers keep their abort. A key that somebody else owns
# stays theirs; what the shell itself binds it to may go.
zle -N axi-handoff _axi_handoff
zle -N axi-rewrite _axi_rewrite
() {
  emulate -L zsh
  local map key
  local -a asked reply
  for map in emacs viins vicmd; do
    for key in $_axi_key ${(s: :)_axi_rewrite_keys}; do
      # Alt+G in vi's keymaps would be ESC and a quick g.
      if [[ $map == emacs || $key == $_axi_key || $key != '^['* ]]; then asked+=($map $key); fi
    done
  done
  # What a search or a menu does not know, the main keymap does: they are given the shell's own there.
  if [[ -n $_axi_key ]]; then
    asked+=(isearch $_axi_key)
    if bindkey -l menuselect >/dev/null 2>&1; then asked+=(menuselect $_axi_key) _axi_menus=1; fi
  fi
  # One line for each key, then the functions that are here. The answer goes through a file without a name, for no
  # process; where that cannot be opened again, a process it is. Appended: to empty a file first costs its file system
  # more than all the rest. The first line is the empty one.
  { if { for map key in $asked; do bindkey -M $map $key; done; typeset +f $_axi_watched } >>/proc/self/fd/3; then :; fi
    reply=("${(@f)$(</proc/self/fd/3)}")
  } 2>/dev/null 3<<<''
  if (( $#reply * 2 <= $#asked )); then
    reply=('' "${(@f)$(for map key in $asked; do bindkey -M $map $key; done; typeset +f $_axi_watched)}")
  fi
  for map key in $asked; do
    shift reply
    if [[ $map == (isearch|menuselect) ]]; then
      if [[ $reply[1] == *undefined-key ]]; then bindkey -M $map $key send-break; fi
      continue
    fi
    case ${reply[1]#*\" } in
      undefined-key | self-insert | send-break | list-expand | get-line | axi-*) ;;
      *)
        # A key that the person names is the person's to give.
        if [[ $key != $_axi_key ]]; then continue; fi
        if [[ -z $_axi_chosen ]]; then _axi_owner=${${reply[1]#*\" }%% *}; continue; fi ;;
    esac
    if [[ $key == $_axi_key ]]; then bindkey -M $map $key axi-handoff; else bindkey -M $map $key axi-rewrite; fi
  done
  shift reply
  # What this hook is like and which plugins came before it, for `axi doctor`.
  : "${_axi_before:=${(j:,:)reply:--}}"
  export AXI_HOOK="1 zsh $ZSH_VERSION ${_axi_key_name:--} ${${_axi_owner:+taken}:-${${_axi_key:+bound}:-none}} ${_axi_owner:--} $_axi_before -"
  # What the person must know is said at the first prompt, once for all shells.
  if [[ -n $_axi_owner ]]; then key=taken-${_axi_owner//[^[:alnum:]-]/}
  elif [[ -n ${ZELLIJ-} && $_axi_key == '^g' ]]; then key=zellij
  else return 0; fi
  if [[ ! -e ${XDG_STATE_HOME:-${HOME-}/.local/state}/axi/told-zsh-$key ]]; then _axi_new=$key; fi
}
typeset -ga precmd_functions preexec_functions
if [[ " ${precmd_functions[*]} " != *' _axi_precmd '* ]]; then
  precmd_functions+=(_axi_precmd) preexec_functions+=(_axi_preexec)
fi

fi
