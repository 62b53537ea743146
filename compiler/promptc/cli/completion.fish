function _promptc_complete
    set -l words (commandline -opc)
    set -lx _PROMPTC_COMPLETE fish
    set -lx _PROMPTC_WORDS (string join \n -- $words | string collect)
    set -lx _PROMPTC_WORD (commandline -ct)
    for line in (command $words[1] 2>/dev/null)
        set -l parts (string split \t -- $line)
        switch $parts[1]
            case file
                __fish_complete_path $_PROMPTC_WORD
            case dir
                __fish_complete_directories $_PROMPTC_WORD
            case '*'
                printf '%s\t%s\n' $parts[2] $parts[3]
        end
    end
end
complete --no-files --command promptc --arguments '(_promptc_complete)'
