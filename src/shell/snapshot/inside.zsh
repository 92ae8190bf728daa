__axi_file=$1
shift
__axi_end() {
  emulate -L zsh
  local name
  zmodload zsh/parameter
  {
    printf '%s\0' "$PWD"
    for name in ${(k)parameters[(R)*export*]}; do printf '%s\0%s\0' "$name" "${(P)name}"; done
  } >|"$__axi_file"
}
trap __axi_end EXIT
() {
  local name
  zmodload zsh/parameter
  for name in ${(k)options}; do
    case $name in
      interactive | monitor | zle | shinstdin | login | loginshell | privileged | restricted | singlecommand) ;;
      exec | xtrace | verbose | rcs | globalrcs | vi | emacs | *hist* | *hup | notify | bgnice | posix*) ;;
      localoptions | localtraps | localpatterns | localloops | warn*) ;;
      *) if [[ " ${__axi_on[*]} " == *" $name "* ]]; then options[$name]=on; else options[$name]=off; fi ;;
    esac
  done
} 2>/dev/null
"$@"
