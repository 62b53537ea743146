#compdef promptc
_promptc() {
    local line kind value help
    local -a plain open
    for line in "${(@f)$(_PROMPTC_COMPLETE=zsh _PROMPTC_WORDS="${(pj:\n:)${(@Q)words[1,CURRENT-1]}}" \
        _PROMPTC_WORD="${(Q)PREFIX}" ${(Q)words[1]} 2>/dev/null)}"; do
        kind=${line%%$'\t'*} line=${line#*$'\t'}
        value=${line%%$'\t'*} help=${line#*$'\t'}
        value=${value//:/\\:}${help:+:$help}
        case $kind in
            file) _files ;;
            dir) _path_files -/ ;;
            open) open+=("$value") ;;
            plain) plain+=("$value") ;;
        esac
    done
    (( $#plain )) && _describe -V promptc plain
    (( $#open )) && _describe -V promptc open -S ''
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _promptc "$@"
else
    compdef _promptc promptc
fi
