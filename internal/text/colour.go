package text

// WantsColor reports whether output is coloured, by the habits that terminal
// programs share: never with NO_COLOR or on a dumb terminal, else on a
// terminal or where CLICOLOR_FORCE asks for it.
func WantsColor(getenv func(string) string, terminal bool) bool {
	switch {
	case getenv("NO_COLOR") != "":
		return false
	case getenv("CLICOLOR_FORCE") != "" && getenv("CLICOLOR_FORCE") != "0":
		return true
	}
	return terminal && getenv("TERM") != "dumb"
}
