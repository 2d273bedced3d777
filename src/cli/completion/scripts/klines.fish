# fish completion for klines: klines completion fish > ~/.config/fish/completions/klines.fish

function __klines_complete
    set -l program klines
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    # A program outside of the PATH completes itself.
    string match -q '*/*' -- $words[1]; and set program $words[1]
    set -e words[1]

    set -l lines ($program __complete $words "$current" 2>/dev/null)
    set -l kind $lines[1]
    set -e lines[1]
    # In --output=FILE, paths are completed after the =.
    set -l head (string match -r '^--[^=]*=' -- $current)
    set -l path (string replace -r '^--[^=]*=' '' -- $current)
    switch "$kind"
        case :words
            string join -- \n $lines
        case :folders
            string join -- \n "$head"(__fish_complete_directories $path)
        case '*'
            string join -- \n "$head"(__fish_complete_path $path)
    end
end

complete -c klines -f -k -a '(__klines_complete)'
