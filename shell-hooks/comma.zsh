# `, question` in zsh: a line that begins so is handed over when it is entered, quotes and globs as they are. Printed
# behind the hook where the settings ask for it.
#
# The line editor's last hook sees the line before zsh reads a word of it; who had that hook keeps it.
if [[ -o interactive && -o zle ]]; then
_axi_comma_starts() {
  precmd_functions=(${precmd_functions:#_axi_comma_starts})
  emulate -L zsh
  # A `,` of the person's own stays theirs.
  if whence , >/dev/null; then return; fi
  if zle -l zle-line-finish; then zle -A zle-line-finish axi-comma-other; fi
  zle -N zle-line-finish _axi_comma_finish
}
_axi_comma_finish() {
  if zle -l axi-comma-other; then zle axi-comma-other; fi
  if [[ $CONTEXT == start && $BUFFER == ', '* ]]; then _axi_load && _axi_comma_over; fi
}
if [[ " ${precmd_functions[*]} " != *' _axi_comma_starts '* ]]; then precmd_functions+=(_axi_comma_starts); fi
fi
