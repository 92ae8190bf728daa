# Runs a function of the person's own shell in that shell, and does here what it did there to the directory and to
# exported variables.
__axi_person() {
  local __axi_after=$__axi_report.$BASHPID __axi_name __axi_value __axi_code=0 __axi_whole=
  local -A __axi_were=()
  : >|"$__axi_after"
  command "${__axi_other[@]}" <(printf '%s' "$__axi_words") "$__axi_after" "$@" || __axi_code=$?
  {
    if IFS= read -rd '' __axi_value; then
      __axi_whole=1
      if [[ $__axi_value != "$PWD" ]]; then builtin cd -- "$__axi_value" || :; fi
    fi
    while IFS= read -rd '' __axi_name && IFS= read -rd '' __axi_value; do
      if [[ ! $__axi_name =~ ^[A-Za-z_][A-Za-z0-9_]*$ ]]; then continue; fi
      __axi_were[$__axi_name]=1
      case $__axi_name in PWD | OLDPWD | SHLVL | _ | __axi_*) continue ;; esac
      if [[ ${!__axi_name-} != "$__axi_value" || ! -v $__axi_name ]]; then export "$__axi_name=$__axi_value"; fi
    done
  } <"$__axi_after" 2>/dev/null
  if [[ $__axi_whole ]]; then
    for __axi_name in $(compgen -e); do
      case $__axi_name in PWD | OLDPWD | SHLVL | _ | __axi_*) continue ;; esac
      if [[ ! ${__axi_were[$__axi_name]-} ]]; then unset -v "$__axi_name"; fi
    done 2>/dev/null
  fi
  command rm -f -- "$__axi_after"
  return "$__axi_code"
}
