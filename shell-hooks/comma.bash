# `, question` in bash: a line that begins so is handed over when it is entered, quotes and globs as they are. Printed
# behind the hook where the settings ask for it.
#
# An alias that ends in a comment sign: bash reads no word of the rest, and the history has the line. What bash would
# read all the same (a `!`, further rows, the whole line where it has no comments) goes over as by the key: Enter looks
# for it first. An Enter of the person's own stays theirs, and so does a `,`.
# shellcheck disable=SC2016,SC2053,SC2154,SC2254
if [[ $- == *i* ]] && ! type , &>/dev/null; then
  __axi_commas=', *'
  if shopt -q interactive_comments expand_aliases; then
    __axi_commas=$', *[\n!]*'
    __axi_comma() { __axi_key __axi_comma_over; }
    # shellcheck disable=SC2142
    alias ,='__axi_comma #'
  fi
  # Its argument is what `$_` is afterwards; `case` leaves `$?` as it is.
  __axi_enter() {
    case $READLINE_LINE in
      $__axi_commas)
        __axi_key __axi_hand_over
        # It did not go over, and bash shall not run it, either. In `read -e` it is an answer.
        if [[ -z $__axi_since$__axi_inside && $READLINE_LINE == $__axi_commas ]]; then
          builtin history -s -- "$READLINE_LINE"
          READLINE_LINE=''
        fi
        ;;
    esac
  }
  if ((BASH_VERSINFO >= 5)) && [[ -z ${BLE_VERSION-} && ${__axi_state-} != readonly* && (-o emacs || -o vi) &&
    $(for map in emacs vi-insert vi-command; do bind -m $map -q accept-line; done) == *C-m\"*C-m\"*C-m\"* ]]; then
    # `plain`, or `looking` at the line first.
    __axi_enter_is() {
      local map does='"\C-x,\C-x\C-m"'
      if [[ $1 == plain ]]; then does=accept-line; fi
      for map in emacs vi-insert vi-command; do bind -m $map '"\C-m": '"$does"; done
    }
    for __axi_map in emacs vi-insert vi-command; do
      bind -m $__axi_map -x '"\C-x,": __axi_enter "$_"'
      bind -m $__axi_map '"\C-x\C-m": accept-line'
    done
    unset __axi_map
    __axi_enter_is looking
  fi
fi
