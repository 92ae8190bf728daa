# `, question` in bash: a line that begins so is handed over when it is entered, quotes and globs as they are. Printed
# behind the hook where the settings ask for it.
#
# Enter looks at the line before bash does: a `!` in it stands for itself, and further rows of it are no commands. Where
# Enter is not to be had (it is somebody else's, or bash is older than 4), it is an alias that ends in a comment sign:
# bash reads no word of the rest, and the history has the line. Where that cannot be either (no comments), there is none;
# a `,` of the person's own stays theirs.
# shellcheck disable=SC2154
if [[ $- == *i* ]] && ! type , &>/dev/null; then
  __axi_enter() {
    bind '"\C-x\C-]": accept-line'
    if [[ ${READLINE_LINE-} == ', '* && -z $__axi_since$__axi_inside ]]; then __axi_key __axi_hand_over; fi
  }
  # Binds Enter where it is bash's own, in vi's keymaps too.
  __axi_enters() {
    local map bound=1
    if [[ ${BASH_VERSINFO:-0} -lt 4 || ${BLE_VERSION-} ]]; then return 1; fi
    for map in vi-insert vi-command emacs; do
      bound=1
      if [[ $(bind -m $map -q accept-line) != *'"\C-m"'* ]]; then continue; fi
      bind -m $map -x '"\C-x\C-n": __axi_enter'
      bind -m $map '"\C-m": "\C-x\C-n\C-x\C-]"'
      bound=0
    done
    return $bound
  }
  __axi_comma() { __axi_key __axi_comma_over; }
  if ! __axi_enters 2>/dev/null && shopt -q interactive_comments expand_aliases; then
    # shellcheck disable=SC2142
    alias ,='__axi_comma #'
  fi
fi
