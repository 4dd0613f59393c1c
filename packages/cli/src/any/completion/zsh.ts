import type { Lines } from './lines.ts';
import { dataFunctions } from './posix.ts';

export const zshScript = (lines: Lines): string => `#compdef headrace
# Completion of headrace for zsh. Made by \`headrace completion zsh\`.
${dataFunctions(lines)}
${FUNCTIONS}`;

const FUNCTIONS = String.raw`_headrace_offer() {
  local -a all
  local line
  for line in "${'$'}{(@f)2}"; do
    [[ -n $line ]] && all+=("${'$'}{${'$'}{line%%$'\t'*}//:/\\:}:${'$'}{line#*$'\t'}")
  done
  ((${'$'}{#all})) && _describe -V "$1" all
}
_headrace_fill() {
  local -a all
  case $1 in
    words\ *) all=(${'$'}{(s: :)${'$'}{1#words }}); compadd -a all ;;
    file) _files ;;
    folder) _files -/ ;;
    app|thread|context)
      _headrace_offer $1 "$(command headrace __complete $1 "${'$'}{(Q)PREFIX}" "${'$'}{(@Q)words[2,-1]}" 2>/dev/null)" ;;
  esac
}
_headrace() {
  local cur=${'$'}{words[CURRENT]} cmd='' first='' option='' word
  local -i n=0 count=0 i
  for ((i = 2; i < CURRENT; i++)); do
    word=${'$'}{words[i]}
    if [[ -n $option ]]; then option=''; continue; fi
    if [[ $word == -- ]]; then _default; return; fi
    if [[ $word == -* ]]; then
      _headrace_value "$cmd $word" >/dev/null && option=$word
      continue
    fi
    count+=1
    if ((count == 1)); then first=$word; _headrace_is_command $word && cmd=$word
    elif ((count == 2)) && _headrace_is_command "$first $word"; then cmd="$first $word"
    else n+=1; fi
  done
  if [[ -n $option ]]; then _headrace_fill "$(_headrace_value "$cmd $option")"
  elif [[ $cur == --*=* ]]; then
    compset -P '*='
    _headrace_fill "$(_headrace_value "$cmd ${'$'}{cur%%=*}")"
  elif [[ $cur == -* ]]; then _headrace_offer option "$(_headrace_options "$cmd")"
  elif ((count == 0)); then _headrace_offer command "$(_headrace_words '')"
  else
    ((count == 1)) && _headrace_offer command "$(_headrace_words $first)"
    [[ -n $cmd ]] && _headrace_fill "$(_headrace_argument "$cmd $n")"
  fi
  return 0
}
# Loaded as a file of fpath, this is the function itself.
if [[ ${'$'}{funcstack[1]} == _headrace ]]; then _headrace "$@"; else compdef _headrace headrace; fi
`;
