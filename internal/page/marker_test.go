package page

import (
	"fmt"
	"testing"
)

// What is answered is known by the first line, also where it is several.
func TestAnswersTo(t *testing.T) {
	for body, want := range map[string]string{
		ReplyMarker(7) + "\ntext":        "[7]",
		ReplyMarker(7, 8, 90) + "\ntext": "[7 8 90]",
		"text " + ReplyMarker(7):         "[]",
		"":                               "[]",
	} {
		if got := fmt.Sprint(AnswersTo(body)); got != want {
			t.Errorf("%q answers %s, want %s", body, got, want)
		}
	}
}
