# What a command changes in its own shell, said before and after it. $__axi_report is where to; the arguments are the
# functions that its line defines. Nothing here outlives the command, and nothing prints.
__axi_state() {
  { local - __axi_options=$SHELLOPTS __axi_more=$BASHOPTS || return 0; set +xveuC -f; } 2>/dev/null
  local IFS=$'\n' __axi_name __axi_key
  local -a __axi_flags
  {
    printf 'C\0%s\0' "$PWD"
    printf 'O\0%s\0' "$__axi_options:$__axi_more"
    for __axi_name in $(compgen -v); do
      case $__axi_name in
        __axi_* | BASH* | COMP_* | DIRSTACK | EPOCH* | FUNCNAME | GROUPS | HIST* | IFS | LINENO | OPTIND | PIPESTATUS) continue ;;
        OPTERR | OPTARG | PWD | OLDPWD | RANDOM | SECONDS | SRANDOM | SHLVL | SHELLOPTS | UID | EUID | PPID | _ | COLUMNS | LINES) continue ;;
      esac
      local -n __axi_value=$__axi_name
      __axi_flags=("${__axi_value[@]@a}")
      case ${__axi_flags-} in
        *A*)
          printf 'M\0%s\0%s\0' "$__axi_name" "${#__axi_value[@]}"
          for __axi_key in "${!__axi_value[@]}"; do printf '%s\0%s\0' "$__axi_key" "${__axi_value[$__axi_key]}"; done
          ;;
        *a*) printf 'L\0%s\0%s\0' "$__axi_name" "${#__axi_value[@]}" && if ((${#__axi_value[@]})); then printf '%s\0' "${__axi_value[@]}"; fi ;;
        *x*) printf 'E\0%s\0%s\0' "$__axi_name" "$__axi_value" ;;
        *) printf 'V\0%s\0%s\0' "$__axi_name" "$__axi_value" ;;
      esac
    done
    for __axi_name in "${!BASH_ALIASES[@]}"; do printf 'A\0%s\0%s\0' "$__axi_name" "${BASH_ALIASES[$__axi_name]}"; done
    for __axi_name in $(compgen -A function); do
      case $__axi_name in __axi_*) continue ;; esac
      printf 'N\0%s\0' "$__axi_name"
    done
    for __axi_name; do
      if declare -F "$__axi_name" >/dev/null; then printf 'F\0%s\0%s\0' "$__axi_name" "$(declare -f "$__axi_name")"; fi
    done
    printf 'Z\0'
  } >>"$__axi_report" 2>/dev/null
}
