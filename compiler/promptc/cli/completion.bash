_promptc_complete() {
    local kind value
    COMPREPLY=()
    while IFS=$'\t' read -r kind value _; do
        case $kind in
            file) compopt -o default 2>/dev/null ;;
            dir) compopt -o dirnames 2>/dev/null ;;
            open) compopt -o nospace 2>/dev/null; COMPREPLY+=("$value") ;;
            plain) COMPREPLY+=("$value") ;;
        esac
    done < <(_PROMPTC_COMPLETE=bash _PROMPTC_LINE="${COMP_LINE:0:COMP_POINT}" \
        _PROMPTC_WORD="${COMP_WORDS[COMP_CWORD]}" "$1" 2>/dev/null)
}
complete -o nosort -F _promptc_complete promptc 2>/dev/null || complete -F _promptc_complete promptc
