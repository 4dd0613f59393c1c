/** Also for bash 3.2, which macOS has. */
import type { Lines } from './lines.ts';
import { dataFunctions } from './posix.ts';

export const bashScript = (
  lines: Lines,
): string => `# Completion of headrace for bash. Made by \`headrace completion bash\`.
${dataFunctions(lines)}
${FUNCTIONS}`;

const FUNCTIONS = String.raw`_headrace_offer() {
  local value rest
  while IFS=$'\t' read -r value rest; do
    [[ $value == "$cur"* ]] || continue
    # Names are strangers' text: none of it is syntax of the shell.
    if [[ -z $quote ]]; then
      if [[ $value == '~'* ]]; then printf -v value '\\~%q' "${'$'}{value#\~}"; else printf -v value '%q' "$value"; fi
    elif [[ $value == *["$quote"'$\!'${"'`'"}]* ]]; then continue
    fi
    COMPREPLY+=("$value")
  done
}
_headrace_fill() {
  local word
  case $1 in
    words\ *) COMPREPLY+=($(compgen -W "${'$'}{1#words }" -- "$cur")) ;;
    file) type compopt &>/dev/null && compopt -o filenames
      while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$cur") ;;
    folder) type compopt &>/dev/null && compopt -o filenames
      while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -d -- "$cur") ;;
    app|thread|context)
      _headrace_offer < <(command headrace __complete "$1" "$cur" "${'$'}{line[@]}" 2>/dev/null) ;;
  esac
}
_headrace() {
  local cur=${'$'}{COMP_WORDS[COMP_CWORD]} quote='' cmd='' first='' option='' word n=0 count=0 i line=()
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${'$'}{COMP_WORDS[i]//[\'\"\\]/}
    # "--limit=5" arrives as three words.
    [[ $word == = ]] && continue
    line+=("$word")
    if [[ -n $option ]]; then option=''; continue; fi
    if [[ $word == -- ]]; then
      type compopt &>/dev/null && compopt -o bashdefault -o default
      return
    fi
    if [[ $word == -* ]]; then
      _headrace_value "$cmd $word" >/dev/null && option=$word
      continue
    fi
    count=$((count + 1))
    if [[ $count == 1 ]]; then first=$word; _headrace_is_command "$word" && cmd=$word
    elif [[ $count == 2 ]] && _headrace_is_command "$first $word"; then cmd="$first $word"
    else n=$((n + 1)); fi
  done
  [[ $cur == = ]] && cur=''
  case $cur in \'*|\"*) quote=${'$'}{cur:0:1} ;; esac
  cur=${'$'}{cur//[\'\"\\]/}
  if [[ -n $option ]]; then _headrace_fill "$(_headrace_value "$cmd $option")"
  elif [[ $cur == -* ]]; then _headrace_offer < <(_headrace_options "$cmd")
  elif [[ $count == 0 ]]; then _headrace_offer < <(_headrace_words '')
  else
    [[ $count == 1 ]] && _headrace_offer < <(_headrace_words "$first")
    [[ -n $cmd ]] && _headrace_fill "$(_headrace_argument "$cmd $n")"
  fi
  return 0
}
complete -F _headrace headrace
`;
