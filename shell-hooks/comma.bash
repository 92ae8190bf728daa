# `, question` in bash: a line that begins so is handed over when it is entered, quotes and globs as they are. Printed
# behind the hook where the settings ask for it.
#
# An alias that ends in a comment sign: bash reads no word of the rest, and the history has the line. Where that cannot
# be (no comments, a `,` of the person's own), there is none.
# shellcheck disable=SC2154
if [[ $- == *i* ]] && shopt -q interactive_comments expand_aliases && ! type , &>/dev/null; then
  __axi_comma() { __axi_key __axi_comma_over; }
  # shellcheck disable=SC2142
  alias ,='__axi_comma #'
fi
