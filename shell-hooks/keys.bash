# What axi's keys run in bash: `axi init bash --keys` prints it with the words in front, for the hook that is loaded.
# shellcheck shell=bash disable=SC2016,SC2034,SC2154

__axi_folder=${XDG_STATE_HOME:-${HOME-}/.local/state}/axi
# A folder that is no whole path counts as none; nor does another person's, which su and sudo leave.
if [[ $__axi_folder != /* ]]; then __axi_folder=${HOME-}/.local/state/axi; fi
__axi_reply=$__axi_folder/axi/$AXI_SESSION.reply
if [[ ${XDG_RUNTIME_DIR-} == /* && -O $XDG_RUNTIME_DIR ]]; then __axi_reply=$XDG_RUNTIME_DIR/axi/$AXI_SESSION.reply; fi
__axi_ask='\[\e[5n\]' __axi_text='' __axi_submitted='' __axi_stopped='' __axi_ignored='' __axi_expands='' __axi_line=''
__axi_command='' __axi_status='' __axi_seconds='' __axi_before=''

# Once is enough. Under ble.sh a key does not see the exit code, a prompt does.
__axi_key() {
  local code=$?
  if [[ ${BLE_VERSION-} ]]; then code=$__axi_code; fi
  bind '"\C-x\C-]": ""'
  "$1" "$code"
}

# Variables of that one command; argv is for everybody to see. $1 is the exit code of the last one.
__axi_tell() {
  local since ended spent REPLY
  # What is told again after ESC is not looked up again: the history has our line by then.
  if [[ $__axi_ran ]]; then
    since=${__axi_ran%% *} ended=${__axi_ran#* * } ended=${ended%% *}
    __axi_status=$1 __axi_command='' __axi_seconds=''
    # Ctrl+C at a prompt has left its own code since.
    if [[ ${__axi_empty-} ]]; then __axi_status=${__axi_ran#* } __axi_status=${__axi_status%% *}; fi
    __axi_ran=''
    if [[ -o history ]]; then
      __axi_last
      # It is not in the history (or this bash does not number it here): perhaps the same command once more, perhaps one
      # that the shell was told to forget. The last word of what ran tells.
      if [[ $__axi_old == "$__axi_number" && (${HISTCONTROL-} == *ignore[sb]* || ${HISTIGNORE-}) ]] &&
        [[ -z $__axi_word || " $REPLY " != *[[:space:]\'\"]"$__axi_word"[[:space:]\'\"]* ]]; then
        REPLY=''
      fi
      __axi_command=${REPLY:0:4096}
    fi
    if [[ $since == *[.,]* && $ended == *[.,]* ]]; then
      printf -v spent '%06d' "$((${ended/[.,]/} - ${since/[.,]/}))"
      __axi_seconds=${spent%??????}.${spent: -6}
      __axi_seconds=${__axi_seconds/#./0.}
    fi
  fi
  export AXI_REPLY=$__axi_reply AXI_SHELL=bash AXI_SHELL_VERSION=$BASH_VERSION AXI_ALIASES
  export AXI_LAST_COMMAND=$__axi_command AXI_LAST_STATUS=$__axi_status AXI_LAST_SECONDS=$__axi_seconds
  # What $? is: axi ends with it, so that it stays.
  export AXI_STATUS=$1
  AXI_ALIASES=$(alias)
  AXI_ALIASES=${AXI_ALIASES:0:16384}
  __axi_functions "${READLINE_LINE-} $__axi_command"
}

# Functions that a text names.
__axi_functions() {
  local word
  local -a words
  export AXI_FUNCTIONS=''
  IFS=$' \t\n;|&()' read -rd '' -a words <<<"$1" || :
  for word in ${words[@]+"${words[@]}"}; do
    if [[ $word == [[:alnum:]_.:+-]* && $'\n'$AXI_FUNCTIONS != *$'\n'"$word ()"* ]] && declare -F -- "$word" &>/dev/null; then
      AXI_FUNCTIONS+=$(declare -f -- "$word")$'\n'
    fi
  done
  AXI_FUNCTIONS=${AXI_FUNCTIONS:0:8192}
}

# What the agent's commands are to find of this shell: records of a kind, a name and a text. axi reads it once, and then
# it is gone.
__axi_snapshot() {
  local name folder=${__axi_reply%/*} IFS=$'\n'
  # Before 4, bash does not list its aliases.
  if ((BASH_VERSINFO < 4)); then return; fi
  if [[ ! -d $folder && ( -O ${HOME-} || -O ${XDG_RUNTIME_DIR-} ) ]]; then command mkdir -p -m 700 -- "$folder"; fi
  if [[ -O $folder ]]; then
    {
      printf 'o\0%s\0\0' "$SHELLOPTS:${BASHOPTS-}"
      for name in "${!BASH_ALIASES[@]}"; do printf 'a\0%s\0%s\0' "$name" "${BASH_ALIASES[$name]}"; done
      for name in $(compgen -A function); do
        if [[ $name == __axi* || $name == */* ]]; then continue; fi
        printf 'f\0%s\0' "$name"
        declare -f -- "$name"
        printf '\0'
      done
    } >|"${__axi_reply%.reply}.person"
  fi
} 2>/dev/null

__axi_forget() {
  unset AXI_LINE AXI_REPLY AXI_SHELL AXI_SHELL_VERSION AXI_LAST_COMMAND AXI_LAST_STATUS AXI_LAST_SECONDS
  unset AXI_ALIASES AXI_FUNCTIONS AXI_STATUS
}

# The newest entry of the history, without its number.
__axi_last() {
  if [[ $__axi_before ]]; then
    # Two of them: the newer begins a row of its own with its number.
    REPLY=$(HISTTIMEFORMAT='' builtin history 2)
    REPLY=${REPLY%"$__axi_before"[* ]*}
    REPLY=${REPLY%$'\n'*}
  else
    REPLY=$(HISTTIMEFORMAT='' builtin history 1)
  fi
  REPLY=${REPLY#"${REPLY%%[0-9]*}"}
  __axi_entry=${REPLY%%[!0-9]*}
  REPLY=${REPLY#"$__axi_entry"}
  REPLY=${REPLY#[* ] }
}

__axi_hand_over() {
  local code=$1 shown program
  if [[ $__axi_since || $__axi_inside ]]; then
    if [[ "${PROMPT_COMMAND[*]-} ${precmd_functions[*]-}" == *__axi_prompt* ]]; then
      # In `read -e`, or inside an unfinished command.
      printf '\a'
    else
      PROMPT_COMMAND=${PROMPT_COMMAND:+$PROMPT_COMMAND$'\n'}__axi_prompt
      printf '%s\n' "$__axi_words_replaced"
    fi
    return
  fi
  # Linux gives one variable 128 KiB.
  local line=${READLINE_LINE-}
  if ((${#line} > 30000)); then printf '%s\n' "$__axi_words_long"; return; fi
  if shopt -q promptvars && [[ ${PS2-} != *__axi_inside* ]]; then PS2='${__axi_one:__axi_inside=1:0}'${PS2-}; fi
  __axi_tell "$code"
  __axi_next=__axi_back
  printf -v program '%q' "$__axi_program"
  if ((BASH_VERSINFO < 4)); then
    # No READLINE_LINE: the line becomes a comment behind our command, which reads it from the history. Further lines of
    # it would be run: they become its input.
    if ! shopt -q interactive_comments; then printf '\a'; return; fi
    __axi_submitted=1 __axi_expands=$-
    set +H
    bind '"\C-x\C-^a": beginning-of-line'
    bind '"\C-x\C-^e": end-of-line'
    bind '"\C-x\C-^q": quoted-insert'
    bind '"\C-x\C-]": "\C-x\C-^a__axi_line <<\"#axi\"; '"$program"' handoff # \C-x\C-^e\C-x\C-^q\C-j#axi\C-m"'
    return
  fi
  __axi_be_last
  __axi_snapshot
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

# A line that begins with a comma was entered: bash runs this in its place, and its history has it. $1 is the exit code
# of the last command.
__axi_comma_over() {
  local code REPLY
  __axi_last
  if [[ ! -o history || $REPLY != ,* ]]; then printf '%s\n' "$__axi_words_unkept" && return 1; fi
  if ((${#REPLY} > 30000)); then printf '%s\n' "$__axi_words_long" && return 1; fi
  export AXI_LINE=$REPLY
  # The entry before it is the last command.
  __axi_before=$__axi_entry
  __axi_tell "$1"
  __axi_before=''
  __axi_be_last
  __axi_snapshot
  __axi_next=__axi_back __axi_submitted=comma
  "$__axi_program" handoff
}

__axi_keep() {
  if [[ -o history && $AXI_LINE == *[![:space:]]* ]]; then builtin history -s -- "$AXI_LINE"; fi
}

__axi_line() {
  local further REPLY
  IFS= read -rd '' further || :
  __axi_last
  REPLY=${REPLY%%$'\n'*}
  export AXI_LINE=${REPLY#*handoff # }${further:+$'\n'${further%$'\n'}}
}

# Before each prompt while a hand-off is out, and at its end.
__axi_back() {
  local over='' text='' code=$__axi_code killed=1
  PS1=${PS1%"$__axi_ask"}
  if declare -F __axi_enter_is >/dev/null; then __axi_enter_is looking; fi
  if [[ -e $__axi_reply ]]; then __axi_receive; fi
  if [[ $__axi_submitted ]]; then
    over=1
    __axi_settle "$code"
  # What brings a hand-off back that was stopped is no command to tell of; the one before it is not the newest now.
  elif [[ $__axi_stopped && $__axi_ran && ($__axi_word == fg || $__axi_word == %*) ]]; then
    over=1 __axi_command='' __axi_status='' __axi_seconds=''
  fi
  if [[ $over ]]; then
    __axi_ran='' __axi_stopped=''
    # One that went well has told the command before it; after ESC the next one tells it again.
    if ((code == 0)); then __axi_command='' __axi_status='' __axi_seconds=''; fi
    if ((code == 146 || code == 148)); then over='' __axi_stopped=1; fi
  fi
  if [[ -e ${__axi_reply%.reply}.ran ]]; then __axi_remember; fi
  if [[ $__axi_text ]]; then __axi_fall_back; fi
  if [[ $text == put$'\n'* ]]; then
    __axi_give "${text#put$'\n'}"
  # It did not come to answer: the line is the person's still.
  elif [[ $over && $__axi_line ]] && ((code && BASH_VERSINFO > 3)); then
    __axi_give "$__axi_line"
  fi
  if [[ -z $__axi_stopped$__axi_text ]]; then __axi_next=''; fi
}

# Commands that the agent ran, where the settings ask for them in the history: by its own rules.
__axi_remember() {
  local line
  while IFS= read -rd '' line; do
    if [[ -o history ]]; then builtin history -s -- "$line"; fi
  done <"${__axi_reply%.reply}.ran"
  command rm -f -- "${__axi_reply%.reply}.ran"
}

# After a hand-off, whether it ended or was stopped; $1 is its exit code.
__axi_settle() {
  local REPLY
  # What kill -9 leaves: a row of what it was doing, a hidden cursor, colour, paste marks, kitty's keys; where no reply
  # came, the window's title.
  if (($1 > 130 && $1 != 146 && $1 != 148)) && [[ ${TERM-} != dumb ]]; then
    printf '\e[0m\e[J\e[?25h\e[?2026l\e[?2004l\e[?1004l\e[<u'
    if [[ $killed ]]; then printf '\e]2;\e\\\e[23;2t'; fi
  fi
  if [[ $__axi_submitted == comma ]]; then
    # The shell itself has put the line into its history.
    :
  elif ((BASH_VERSINFO < 4)); then
    if [[ $__axi_expands == *H* ]]; then set -H; fi
    # Adding an entry takes the place of the command that is running; without one it must go by its number.
    if [[ $AXI_LINE != *[![:space:]]* ]]; then
      __axi_last
      builtin history -d "$__axi_entry" || :
    fi
  elif [[ $__axi_ignored ]]; then HISTIGNORE=${__axi_ignored#x}; else unset HISTIGNORE; fi
  if [[ $__axi_submitted != comma ]] && ((BASH_VERSINFO < 5)); then __axi_keep; fi
  __axi_line=$AXI_LINE
  __axi_forget
  __axi_submitted=''
}

# What axi left: its own exit code, where the shell was given the person's, and a text for the next prompt line.
__axi_receive() {
  killed=''
  IFS= read -rd '' text <"$__axi_reply" || :
  command rm -f -- "$__axi_reply"
  if [[ $text == 'ended '* ]]; then
    code=${text%%$'\n'*} code=${code#ended } text=${text#*$'\n'}
  fi
}

# A text for the next prompt line: the terminal is asked, and its answer is a key.
__axi_give() {
  local map
  __axi_text=$1
  if ((BASH_VERSINFO < 4)); then
    __axi_fall_back
    return
  fi
  for map in emacs vi-insert vi-command; do
    bind -m $map -x '"\C-x\C-^": __axi_put'
    bind -m $map '"\e[0n": "\C-x\C-^"'
  done
  # An Enter that looks at the line has the prompt painted again, and the question with it: the command would get the answer.
  if declare -F __axi_enter_is >/dev/null; then __axi_enter_is plain; fi
}

# What sets the prompt anew may run after ours (starship): the question goes in at the very end.
__axi_be_last() {
  if ((BASH_VERSINFO < 4)); then return; fi
  # A copy: the length of a plain variable's list is an error under set -u.
  local -a hooks=(${PROMPT_COMMAND[@]+"${PROMPT_COMMAND[@]}"})
  if ((${#hooks[@]} == 0)); then return; fi
  local last=${hooks[${#hooks[@]}-1]}
  if [[ $last == *__axi_asks ]]; then return; fi
  if ((${#hooks[@]} > 1)); then
    PROMPT_COMMAND+=(__axi_asks)
  else
    # shellcheck disable=SC2178 # one command, in an array or not
    PROMPT_COMMAND=$last$'\n'__axi_asks
  fi
}

__axi_asks() {
  local code=$?
  if [[ $__axi_text ]]; then PS1=${PS1%"$__axi_ask"}$__axi_ask; fi
  return "$code"
}

# The terminal has answered.
__axi_put() {
  local map
  # A prompt that is painted again asks again: from now on that means nothing.
  for map in emacs vi-insert vi-command; do bind -m $map '"\e[0n": ""'; done
  # A shell that is started from here would inherit the question.
  PS1=${PS1%"$__axi_ask"}
  READLINE_LINE=$__axi_text$READLINE_LINE READLINE_POINT=1000000 __axi_text=''
}

# The terminal has never answered.
__axi_fall_back() {
  builtin history -s -- "$__axi_text"
  __axi_text=''
  printf '%s\n' "$__axi_words_history"
}

# Rewrites the line in place: nothing is run, and undo brings the old line back.
__axi_rewrite_line() {
  local code=$1 answer unsent=''
  if [[ $__axi_since || $__axi_inside || $READLINE_LINE != *[![:space:]]* ]] || ((${#READLINE_LINE} > 30000)); then return; fi
  __axi_tell "$code"
  code=0
  answer=$(AXI_LINE=$READLINE_LINE AXI_UNSENT=1 "$__axi_program" handoff --rewrite 2>&1 </dev/tty) || code=$?
  __axi_forget
  if ((code == 0)); then
    # Behind the command: what is told of what was typed meanwhile.
    if [[ $answer == *$'\x1e'* ]]; then unsent=${answer#*$'\x1e'} answer=${answer%%$'\x1e'*}; fi
    READLINE_LINE=$answer READLINE_POINT=1000000 answer=$unsent
  fi
  if [[ $answer ]]; then printf '%s\n' "$answer"; fi
}

# Who owns the key: nobody, when it is bound to nothing.
__axi_owned() {
  local all line=$'\n'"\"$__axi_key\"" owner=''
  all=$'\n'$(bind -p; bind -s; bind -X 2>/dev/null)
  if [[ $all == *"$line"* ]]; then
    all=${all##*"$line"}
    all=${all%%$'\n'*}
    # `: "text"`, and in bash 5.3 ` "text"`.
    all=${all#:}
    all=${all# }
    all=${all#\"}
    owner=${all%%[[:space:]\"]*}
    : "${owner:=macro}"
  elif ((BASH_VERSINFO < 4 || BASH_VERSINFO == 4 && BASH_VERSINFO[1] < 3)); then
    # This bash does not tell what was bound with -x.
    owner='bind-x'
  fi
  __axi_state='bound -'
  if [[ $owner ]]; then __axi_state="taken $owner" __axi_new=taken-${owner//[!a-zA-Z0-9_-]/}; fi
}

# Which of what the hook sets is readonly: no key is bound then.
__axi_locked() {
  local name
  for name in PROMPT_COMMAND PS0 PS1 PS2 HISTIGNORE; do local "$name" || break; done 2>/dev/null
  export AXI_HOOK="1 bash $BASH_VERSION $__axi_key_name readonly $name - -"
  __axi_state="readonly $name" __axi_new=readonly-$name
  if [[ ! -e $__axi_folder/told-bash-$__axi_new ]]; then __axi_warn; fi
}

# Says once for all shells what the person must know: {key}, {owner} and {keys} are put in. $__axi_new is the name of
# the file that says that it was said.
__axi_warn() {
  local all key free='' text=$__axi_words_taken
  case $__axi_new in
    zellij) text=$__axi_words_zellij ;;
    readonly-*) text=$__axi_words_readonly ;;
  esac
  all=$(bind -p; bind -s; bind -X 2>/dev/null)
  # None of these is Zellij's.
  for key in '\C-x\C-a ctrl-x,ctrl-a' '\em alt-m' '\ez alt-z'; do
    if [[ $all != *"\"${key% *}\""* ]]; then free+=${free:+, }${key#* }; fi
  done
  text=${text//'{key}'/$__axi_key_name}
  text=${text//'{owner}'/${__axi_state#* }}
  printf '%s\n' "${text//'{keys}'/$free}" >&2
  { command mkdir -p -- "$__axi_folder" && : >"$__axi_folder/told-bash-$__axi_new"; } 2>/dev/null || :
}
