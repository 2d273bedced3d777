# bash completion for klines. In ~/.bashrc: eval "$(klines completion bash)"

_klines() {
  local program=klines line=${COMP_LINE:0:COMP_POINT} kind=files redirected= trimmed word current= i
  local words=()
  # A program outside of the PATH completes itself.
  [[ $1 == */* ]] && program=${1/#\~\//$HOME/}

  # bash also splits words at = and :, and around redirections. Those with no space between them are one word.
  for ((i = 0; i <= COMP_CWORD; i++)); do
    trimmed=${line#"${line%%[![:space:]]*}"}
    word=${COMP_WORDS[i]}
    ((i < COMP_CWORD)) || word=$trimmed
    if [[ $word == [\<\>]* || $word == '&>'* ]]; then
      redirected=1
    elif [[ $redirected ]]; then
      # The target of a redirection is a file.
      ((i < COMP_CWORD)) || return 0
      redirected=
    elif [[ $trimmed == "$line" ]]; then
      current+=$word
    else
      words+=("$current")
      current=$word
    fi
    line=${trimmed#"$word"}
  done
  [[ $redirected ]] && return 0
  current=${current//[\"\'\\]/}

  # Candidates are whole words; bash replaces only what follows the last = or :.
  local head=${current%"$2"}
  COMPREPLY=()
  while IFS= read -r word; do
    case $word in
      :*) kind=${word#:} ;;
      *)
        word=${word%%$'\t'*}
        COMPREPLY+=("${word#"$head"}")
        ;;
    esac
  done < <("$program" __complete "${words[@]:1}" "$current" 2>/dev/null)

  # Without candidates bash completes files, as the option `default` below says.
  case $kind in
    words) compopt +o default 2>/dev/null ;;
    folders) compopt +o default -o dirnames 2>/dev/null ;;
  esac
  return 0
}

# nosort needs bash 4.4.
complete -o default -o nosort -F _klines klines 2>/dev/null || complete -o default -F _klines klines
