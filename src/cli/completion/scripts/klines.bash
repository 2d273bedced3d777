# bash completion for klines. In ~/.bashrc: eval "$(klines completion bash)"

_klines() {
  local program=klines kind=files word words current head
  # A program outside of the PATH completes itself.
  [[ $1 == */* ]] && program=${1/#\~\//$HOME/}

  # bash also splits words at = and :, the program does not. The x keeps a last word that is empty.
  read -ra words <<< "${COMP_LINE:0:COMP_POINT}x"
  current=${words[-1]%x}
  # The target of a redirection is a file.
  [[ $current == *[\<\>]* || ${words[-2]} == *[\<\>] ]] && return 0
  current=${current//[\"\'\\]/}

  # Candidates are whole words; bash replaces only what follows the last = or :.
  head=${current%"$2"}
  COMPREPLY=()
  while IFS= read -r word; do
    case $word in
      :*) kind=${word#:} ;;
      *) word=${word%%$'\t'*} && COMPREPLY+=("${word#"$head"}") ;;
    esac
  done < <("$program" __complete "${words[@]:1:${#words[@]}-2}" "$current" 2>/dev/null)

  # Without candidates bash completes files, as the option `default` below says.
  case $kind in
    words) compopt +o default 2>/dev/null ;;
    folders) compopt +o default -o dirnames 2>/dev/null ;;
  esac
  return 0
}

# nosort needs bash 4.4.
complete -o default -o nosort -F _klines klines 2>/dev/null || complete -o default -F _klines klines
