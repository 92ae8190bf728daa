# What axi's keys run in zsh: `axi init zsh --keys` prints it with the words in front, for the hook that is loaded.

_axi_state=${XDG_STATE_HOME:-${HOME-}/.local/state}/axi
# A folder that is no whole path counts as none; nor does another person's, which su and sudo leave.
if [[ $_axi_state != /* ]]; then _axi_state=${HOME-}/.local/state/axi; fi
_axi_reply=$_axi_state/axi/$AXI_SESSION.reply
if [[ ${XDG_RUNTIME_DIR-} == /* && -O $XDG_RUNTIME_DIR ]]; then _axi_reply=$XDG_RUNTIME_DIR/axi/$AXI_SESSION.reply; fi
_axi_submitted= _axi_latest= _axi_spared= _axi_line=
typeset -ga zshaddhistory_functions _axi_told
if [[ " ${zshaddhistory_functions[*]} " != *' _axi_addhistory '* ]]; then zshaddhistory_functions+=(_axi_addhistory); fi

# Once is enough.
_axi_load() { return 0 }

# Variables of that one command; argv is for everybody to see. $1: whether the shell is to forget lines with a space in
# front: then what ran is not told here either. (What a zshaddhistory function refuses cannot be known: to ask it twice
# may write it down twice.)
_axi_tell() {
  setopt local_options extended_glob
  local word spent= command=${_axi_ran#.}
  # What is told again after ESC is not looked up again: the history has our line by then.
  if [[ -n $_axi_ran ]]; then
    _axi_ran= _axi_latest=$command
    if [[ $1 == on && $command == ' '* || -n ${HISTORY_IGNORE-} && $command == ${~HISTORY_IGNORE} ]]; then command=; fi
    # Minutes and seconds.
    if [[ -n $command && ${history[$((HISTCMD - 1))]-} == "$command" ]]; then
      spent=${${=$(fc -lD -1)}[2]}
      spent=$(( ${spent%:*} * 60 + 10#${spent#*:} ))
    fi
    _axi_told=("$command" "${_axi_status:-$_axi_code}" "$spent")
  fi
  export AXI_LINE=$BUFFER AXI_REPLY=$_axi_reply AXI_SHELL=zsh AXI_SHELL_VERSION=$ZSH_VERSION
  export AXI_LAST_COMMAND=${_axi_told[1][1,4096]} AXI_LAST_STATUS=$_axi_told[2] AXI_LAST_SECONDS=$_axi_told[3]
  # What $? is: axi ends with it, so that it stays.
  export AXI_STATUS=$_axi_code
  export AXI_ALIASES="$(alias)" AXI_FUNCTIONS=
  AXI_ALIASES=${AXI_ALIASES[1,16384]}
  # Functions that the line or the last command name.
  for word in ${(uz)BUFFER} ${(uz)_axi_told[1]}; do
    if [[ $word == [[:alnum:]_.:+-]## && $'\n'$AXI_FUNCTIONS != *$'\n'"$word () {"* ]] && (( ${+functions[$word]} )); then
      AXI_FUNCTIONS+="$word () {"$'\n'${functions[$word]}$'\n}\n'
    fi
  done
  AXI_FUNCTIONS=${AXI_FUNCTIONS[1,8192]}
}

# What the agent's commands are to find of this shell: records of a kind, a name and a text. axi reads it once, and then
# it is gone. $1: the options that are on.
_axi_snapshot() {
  local name folder=${_axi_reply:h}
  if [[ ! -d $folder && ( -O ${HOME-} || -O ${XDG_RUNTIME_DIR-} ) ]]; then command mkdir -p -m 700 -- $folder; fi
  if [[ -O $folder ]]; then
    {
      printf 'o\0%s\0\0' "$1"
      for name in $fpath; do printf 'p\0%s\0\0' "$name"; done
      for name in ${(k)aliases}; do printf 'a\0%s\0%s\0' "$name" "$aliases[$name]"; done
      for name in ${(k)functions}; do
        # Completions that were not needed yet are many.
        if [[ $name == _axi* || $name == _* && $functions[$name] == 'builtin autoload -X'* ]]; then continue; fi
        printf 'f\0%s\0%s\0' "$name" "$name () {"$'\n'"$functions[$name]"$'\n}'
      done
    } >|${_axi_reply%.reply}.person
  fi
} 2>/dev/null

_axi_forget() {
  unset AXI_LINE AXI_REPLY AXI_SHELL AXI_SHELL_VERSION AXI_LAST_COMMAND AXI_LAST_STATUS AXI_LAST_SECONDS
  unset AXI_ALIASES AXI_FUNCTIONS AXI_STATUS
}

_axi_fits() {
  setopt local_options no_multibyte
  # Linux gives one variable 128 KiB.
  (( $#BUFFER < 120000 )) || { zle -M -- "$_axi_words_long"; return 1; }
}

# What searches and menus do not know, the main keymap does: they are given the shell's own. 0 when the press that is
# running was still theirs.
_axi_spare() {
  local map
  for map in isearch menuselect; do
    if [[ $_axi_spared == *$map* ]] || ! bindkey -l $map >/dev/null 2>&1; then continue; fi
    _axi_spared+=$map
    if [[ $(bindkey -M $map $_axi_key) == *undefined-key ]]; then
      bindkey -M $map $_axi_key send-break
      if [[ $map == isearch && $LASTWIDGET == *incremental-search* ||
        $map == menuselect && $LASTWIDGET == *complete* && ${_lastcomp[insert]-} == (automenu|menu*) ]]; then
        zle .undo
        return 0
      fi
    fi
  done
  return 1
}

_axi_hand_over() {
  local forgets=${options[histignorespace]} on="${(k)options[(R)on]}"
  emulate -L zsh
  case $CONTEXT in
    start) ;;
    # Inside an unfinished command: all of it comes into the editor first, and the key again hands that over.
    cont) zle .push-line-or-edit; return 0 ;;
    *) return 1 ;;
  esac
  if _axi_spare; then return 0; fi
  _axi_fits || return 0
  _axi_prepare $forgets $on
  # accept-line leaves the person's text on the screen; then the line editor's last hook swaps what is run.
  if zle -l zle-line-finish; then zle -A zle-line-finish _axi-line-finish; fi
  zle -N zle-line-finish _axi_finish
  zle .accept-line
}

# All that is done before our command is run.
_axi_prepare() {
  _axi_tell_hook
  _axi_tell $1
  _axi_snapshot $2
  # Somebody may have set these anew.
  if [[ " $precmd_functions " != *' _axi_precmd '* ]]; then precmd_functions+=(_axi_precmd); fi
  if [[ " $preexec_functions " != *' _axi_preexec '* ]]; then preexec_functions+=(_axi_preexec); fi
  if [[ " $precmd_functions " != *' _axi_back '* ]]; then precmd_functions+=(_axi_back); fi
  # Whatever ends the job, kill -9 too, the shell gives the terminal its own mode back.
  typeset -g _axi_frozen=$(ttyctl)
  ttyctl -f
}

# A line that begins with a comma was entered.
_axi_comma_over() {
  local forgets=${options[histignorespace]} on="${(k)options[(R)on]}"
  emulate -L zsh
  _axi_fits || return 0
  _axi_prepare $forgets $on
  _axi_swap
}

_axi_finish() {
  zle -D zle-line-finish
  if zle -l _axi-line-finish; then
    zle -A _axi-line-finish zle-line-finish
    zle -D _axi-line-finish
    zle zle-line-finish
  fi
  _axi_swap
}

# Our command in place of the line, which stays on the screen.
_axi_swap() {
  POSTDISPLAY=
  typeset -g _axi_submitted=" ${(q)_axi_program} handoff"
  zle -I
  if [[ -o correct_all ]]; then BUFFER=" nocorrect$_axi_submitted"; else BUFFER=$_axi_submitted; fi
}

# The person's text goes into the history, our command does not.
_axi_addhistory() {
  if [[ -n $_axi_submitted && $1 == *"$_axi_submitted"$'\n' ]]; then _axi_keep; fi
}

_axi_keep() {
  _axi_add "$AXI_LINE"
  # The line that is running is saved in a list of its own, which the shell drops at once.
  fc -p
}

# Commands that the agent ran, where the settings ask for them in the history.
_axi_remember() {
  local command
  while IFS= read -rd '' command; do _axi_add "$command"; done <"${_axi_reply%.reply}.ran"
  command rm -f -- "${_axi_reply%.reply}.ran"
}

# Adds a line to the history, as the shell's options and hooks would have it.
_axi_add() {
  local hook keep=1
  if [[ $1 != *[![:space:]]* ]] || [[ -o hist_ignore_space && $1 == ' '* ]]; then keep=; fi
  if [[ -o hist_ignore_dups && $1 == "$_axi_latest" ]]; then keep=; fi
  if [[ -o hist_no_store && $1 == (history|history *|r|r *|fc -*l*) ]]; then keep=; fi
  for hook in zshaddhistory "${zshaddhistory_functions[@]-}"; do
    if [[ -n $keep && -n $hook && $hook != _axi_addhistory ]] && (( ${+functions[$hook]} )); then
      $hook "$1"$'\n' || keep=
    fi
  done
  if [[ -n $keep ]]; then
    local REPLY=$1
    if [[ -o hist_reduce_blanks ]]; then _axi_reduce "$1"; fi
    print -rs -- "$REPLY"
    typeset -g _axi_latest=$1
  fi
}

# The line with one blank where several stand between words; as it is where its words cannot be told.
_axi_reduce() {
  local word rest=$1 found=
  for word in "${(@z)1}"; do
    if [[ -n $found && $rest == [[:blank:]]* ]]; then found+=' '; fi
    while [[ $rest == [[:blank:]]* ]]; do rest=${rest#?}; done
    if [[ $rest != "$word"* ]]; then return; fi
    found+=$word rest=${rest#"$word"}
  done
  REPLY=$found
}

# Rewrites the line in place: nothing is run, and undo brings the old line back.
_axi_rewrite_line() {
  local forgets=${options[histignorespace]}
  emulate -L zsh
  setopt local_traps
  [[ $CONTEXT == start && $BUFFER == *[![:space:]]* ]] && _axi_fits || return 0
  trap '' INT # Ctrl+C is a key that axi reads.
  local at=$CURSOR code=0 answer=
  CURSOR=$#BUFFER POSTDISPLAY=
  zle -R ' ' # Makes the row that axi draws on; the cursor goes back exactly where the line editor left it.
  _axi_tell $forgets
  # Where the cursor cannot be brought back, axi draws nothing.
  if [[ -z ${TERM-} || $TERM == (dumb|unknown) ]]; then
    answer="$(AXI_UNSENT=1 "$_axi_program" handoff --rewrite 2>&1 </dev/tty)" || code=$?
  else
    print -n '\e7\r\n' >/dev/tty
    answer="$(AXI_UNSENT=1 "$_axi_program" handoff --rewrite 2>&1 </dev/tty)" || code=$?
    print -n '\e8' >/dev/tty
  fi
  _axi_forget
  CURSOR=$at
  if (( code == 0 )); then
    # Behind the command: what is told of what was typed meanwhile.
    local command=${answer%%$'\x1e'*}
    BUFFER=$command CURSOR=$#command
    answer=${${answer#"$command"}#$'\x1e'}
  fi
  if [[ -n $answer ]]; then zle -M -- "$answer"; fi
}

# Before each prompt while a hand-off is out, and at its end.
_axi_back() {
  local code=$? over= text= killed=1
  if [[ -e "${_axi_reply%.reply}.ran" ]]; then _axi_remember; fi
  emulate -L zsh
  if [[ -e $_axi_reply ]]; then _axi_receive; fi
  if [[ -n $_axi_submitted ]]; then
    over=1
    _axi_settle $code
    # One that went well has told the command before it; after ESC the next one tells it again.
    if (( code == 0 )); then _axi_told=(); fi
  # What brings a hand-off back that was stopped is no command to tell of, and the one before it is not the last on the
  # screen.
  elif [[ $_axi_ran == .(fg|fg[[:space:]]*|%*) ]]; then
    over=1 _axi_told=()
  fi
  if [[ -n $over ]]; then
    _axi_submitted= _axi_ran=
    if (( code != 146 && code != 148 )); then precmd_functions=(${precmd_functions:#_axi_back}); else over=; fi
  fi
  if [[ $text == put$'\n'* ]]; then
    print -rz -- "${text#put$'\n'}"
  # It did not come to answer: the line is the person's still.
  elif [[ -n $over ]] && (( code )); then
    print -rz -- "$_axi_line"
  fi
}

# After a hand-off, whether it ended or was stopped; $1 is its exit code.
_axi_settle() {
  _axi_line=$AXI_LINE
  _axi_forget
  if [[ $_axi_frozen == *not* ]]; then ttyctl -u; fi
  # What kill -9 leaves: a row of what it was doing, a hidden cursor, colour, paste marks, kitty's keys; where no reply
  # came, the window's title.
  if (( $1 > 130 && $1 != 146 && $1 != 148 )) && [[ ${TERM-} != dumb ]]; then
    print -n '\e[0m\e[J\e[?25h\e[?2026l\e[?2004l\e[?1004l\e[<u'
    if [[ -n $killed ]]; then print -n '\e]2;\e\\\e[23;2t'; fi
  fi
}

# What axi left: its own exit code, where the shell was given the person's, and a text for the next prompt line.
_axi_receive() {
  killed=
  IFS= read -rd '' text <$_axi_reply || :
  command rm -f -- $_axi_reply
  if [[ $text == 'ended '* ]]; then
    code=${${text%%$'\n'*}#ended } text=${text#*$'\n'}
  fi
}

# The plugins that are here by now, and whose the key is by now.
_axi_tell_hook() {
  emulate -L zsh
  local name now= owner=${${"$(bindkey -M main $_axi_key 2>/dev/null)"#*\" }%% *}
  local -a facts=(${(s: :)AXI_HOOK})
  if [[ $facts[5] == bound && $owner != axi-* ]]; then facts[5]=taken facts[6]=${owner:--}; fi
  for name in $_axi_watched; do
    if typeset +f $name; then now+=${now:+,}$name; fi
  done >/dev/null
  facts[-1]=${now:--}
  AXI_HOOK="$facts"
}

# Says once for all shells what the person must know: {key}, {owner} and {keys} are put in. $_axi_new is the name of
# the file that says that it was said.
_axi_warn() {
  emulate -L zsh
  local name text=$_axi_words_zellij
  local -a free
  if [[ -n $_axi_owner ]]; then text=$_axi_words_taken; fi
  # None of these is Zellij's.
  for name in '^x^a:ctrl-x,ctrl-a' '^[m:alt-m' '^[r:alt-r'; do
    if [[ $(bindkey -M emacs ${name%%:*}) == *undefined-key ]]; then free+=(${name#*:}); fi
  done
  text=${${${text//\{key\}/$_axi_key_name}//\{owner\}/$_axi_owner}//\{keys\}/${(j:, :)free}}
  print -ru2 -- "$text"
  { command mkdir -p -- $_axi_state && : >$_axi_state/told-zsh-$_axi_new } 2>/dev/null
}
