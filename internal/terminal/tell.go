package terminal

import "io"

// Tell prints a message for a person, which may have several lines. On a terminal it
// breaks lines between words: the terminal would break within them. Elsewhere a line
// stays one.
func Tell(w io.Writer, message string) {
	if width, _, ok := sizeOf(w); ok {
		message = folded(message, width)
	}
	_, _ = io.WriteString(w, message+"\n") // what cannot be told stops nothing
}

// Ask prints what a person is asked, as Tell does, and leaves the cursor behind it.
func Ask(w io.Writer, question string) {
	if width, _, ok := sizeOf(w); ok {
		question = folded(question, width-1)
	}
	_, _ = io.WriteString(w, question+" ")
}
