# axi in zsh: Ctrl+G hands the line to the agent; a command it proposes comes back on the next prompt line.
# `axi init zsh` prints this with the settings in front. To uninstall, remove the line that loads it.
#
# The line is submitted, not hosted: the widget saves it and lets the shell run a plain `axi handoff` through its own
# accept-line, so that job control, terminal modes and prompt marks are the shell's. Only builtins run at a prompt.
# This is what a shell needs at its start, where each character costs it time; what the keys run (keys.zsh) is asked of
# axi when the first is pressed. It is read with the person's options: nothing outside `emulate` may need one of them.
if [[ -o interactive && -o zle ]]; then

# The same process keeps its conversation (a hook loaded again, exec zsh); a shell inside a shell gets its own.
[[ ${AXI_SESSION-} == *-$$-* ]] || export AXI_SESSION=$RANDOM$RANDOM-$$-$RANDOM$RANDOM

# All that is kept of the last command: its text, behind a dot, and the exit code, which a widget that others wrap does
# not see: the one that $? is, and the one that the command had before Ctrl+C at a prompt. One assignment each, which is
# nearly all a prompt costs. How long it took zsh's history knows.
_axi_ran= _axi_code= _axi_status=
_axi_preexec() {
  _axi_ran=.$1 _axi_status=
  # `axi doctor` is told who else is here, by now.
  if [[ $3 == *axi*doctor* ]]; then _axi_load && _axi_tell_hook; fi
}
_axi_precmd() {
  _axi_code=$? _axi_status=${_axi_status:-$?}
}

# After the first press this is not needed any more.
_axi_load() {
  emulate -L zsh -o no_aliases
  local text
  if text=$("$_axi_program" init zsh --keys 4 2>&1 </dev/null); then
    eval "$text"
  else
    if zle; then zle -M -- "$text"; else print -ru2 -- "$text"; fi
    return 1
  fi
}
_axi_handoff() {
  _axi_load && _axi_hand_over
}
_axi_rewrite() {
  _axi_load && _axi_rewrite_line
}
_axi_say() {
  precmd_functions=(${precmd_functions:#_axi_say})
  _axi_load && _axi_warn
}

_axi_tells() {
  for map key in $asked; do bindkey -M $map $key; done
  typeset +f $_axi_watched
  # A key that begins others is theirs: these lines begin with a quote.
  if [[ -n $_axi_key ]]; then bindkey -M emacs -p $_axi_key; fi
}

# Binds the keys in the main editing keymaps. A key that somebody else owns stays theirs; what the shell itself binds
# may go.
_axi_bind() {
  emulate -L zsh
  local map key state=none
  local -a asked reply others
  for map in emacs viins vicmd; do
    for key in $_axi_key $_axi_rewrite_keys; do
      # Alt+G in vi's keymaps would be ESC and a quick g.
      if [[ $map == emacs || $key == $_axi_key || $key != '^['* ]]; then asked+=($map $key); fi
    done
  done
  # One line for each key, then the functions that are here. The answer goes through a file without a name, for no
  # process; where that cannot be opened again, a process it is. Appended: to empty a file first costs its file system
  # more than all the rest. The first line is the empty one.
  {
    _axi_tells >>/proc/self/fd/3
    reply=("${(@f)$(</proc/self/fd/3)}")
  } 2>/dev/null 3<<<''
  if (( $#reply * 2 <= $#asked )); then
    reply=('' "${(@f)$(_axi_tells)}")
  fi
  others=($reply[$#asked/2+2,-1])
  if [[ -z $_axi_chosen && $others[-1] == \"* ]]; then _axi_owner=${others[-1]##* }; fi
  zle -N axi-handoff _axi_handoff
  zle -N axi-rewrite _axi_rewrite
  for map key in $asked; do
    shift reply
    if [[ $key == $_axi_key && -n $_axi_owner ]]; then continue; fi
    case ${reply[1]#*\" } in
      undefined-key | self-insert | send-break | list-expand | get-line | axi-*) ;;
      *)
        # A key that the person names is the person's to give.
        if [[ $key != $_axi_key ]]; then continue; fi
        if [[ -z $_axi_chosen ]]; then _axi_owner=${${reply[1]#*\" }%% *}; continue; fi ;;
    esac
    if [[ $key == $_axi_key ]]; then
      state=bound
      bindkey -M $map $key axi-handoff
    else
      bindkey -M $map $key axi-rewrite
    fi
  done
  # What this hook is like and which plugins came before it, for `axi doctor`.
  : "${_axi_before:=${(j:,:)${others:#\"*}:--}}"
  export AXI_HOOK="1 zsh $ZSH_VERSION $_axi_key_name ${${_axi_owner:+taken}:-$state} ${_axi_owner:--} $_axi_before -"
  # What the person must know is said at the first prompt, once for all shells.
  if [[ -n $_axi_owner ]]; then _axi_new=taken-${_axi_owner//[^[:alnum:]-]/}
  elif [[ -n ${ZELLIJ-} && $state == bound && $_axi_key == '^g' ]]; then _axi_new=zellij
  else return 0; fi
  if [[ ! -e ${XDG_STATE_HOME:-${HOME-}/.local/state}/axi/told-zsh-$_axi_new ]]; then precmd_functions+=(_axi_say); fi
}
# Functions of plugins.
_axi_watched=(_zsh_autosuggest_start _zsh_highlight omz p10k zvm_init starship_precmd prompt_starship_precmd
  _atuin_precmd fzf-history-widget _direnv_hook _navi_widget __zoxide_hook _zoxide_hook)
_axi_owner=
typeset -ga precmd_functions preexec_functions
_axi_bind
if [[ " ${precmd_functions[*]} " != *' _axi_precmd '* ]]; then
  precmd_functions+=(_axi_precmd) preexec_functions+=(_axi_preexec)
fi
# Assignments to what is outside a function are told to who wants to know them; not these two, each time.
if [[ -o warn_nested_var ]] 2>/dev/null; then emulate zsh -c "$(typeset -f _axi_preexec _axi_precmd)"; fi

fi
