#compdef klines
# zsh completion for klines. In ~/.zshrc, after compinit: source <(klines completion zsh)
# Or as a file named _klines in a folder of $fpath.

_klines() {
  local program=klines kind=files line value
  local -a lines values
  # A program outside of the PATH completes itself.
  [[ $words[1] == */* ]] && program=${(Q)words[1]/#\~\//$HOME/}

  lines=("${(@f)$("$program" __complete "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
  for line in $lines; do
    if [[ $line == :* ]]; then
      kind=${line#:}
      continue
    fi
    # _describe expects VALUE or VALUE:DESCRIPTION.
    value=${${line%%$'\t'*}//:/\\:}
    [[ $line == *$'\t'* ]] && value+=:${line#*$'\t'}
    values+=($value)
  done

  case $kind in
    files) compset -P '--*='; _files ;;
    folders) compset -P '--*='; _path_files -/ ;;
    *) _describe -V klines values -M 'm:{a-z}={A-Z}' ;;
  esac
}

# A file in $fpath is run at the first completion; other than that it only registers the function.
if [[ $funcstack[1] == _klines ]]; then
  _klines "$@"
else
  # The completion system may not have been started.
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i }
  compdef _klines klines
fi
