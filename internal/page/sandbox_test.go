package page

import (
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/sandbox"
	"github.com/reprise-ci/reprise/prompts"
)

// What keeps the network closed is said, and so is what does not.
func TestSummaryOfTheNetwork(t *testing.T) {
	catalogue := prompts.Words("en")
	words := catalogue.Sandbox
	for _, tt := range []struct {
		held  sandbox.Held
		holds bool
		want  string
	}{
		{sandbox.Held{Network: sandbox.OwnNetwork}, false, words.Network},
		{sandbox.Held{Closed: true, Network: sandbox.OwnNetwork}, true, words.NetworkOwn},
		{sandbox.Held{Closed: true, Network: sandbox.PortAlone}, false, words.NetworkPort},
		{sandbox.Held{Closed: true}, false, words.NetworkNone},
	} {
		holds, not, _ := strings.Cut(sandboxText(catalogue, "required", sandbox.Confinement{Known: true, Held: &tt.held}), "- "+words.Not)
		if strings.Contains(holds, tt.want) != tt.holds || strings.Contains(not, tt.want) == tt.holds {
			t.Errorf("%q: it holds %s\nand does not %s", tt.want, holds, not)
		}
	}
}

// What ends the processes of a call is said, and so is what does not.
func TestSummaryOfWhatEndsACall(t *testing.T) {
	catalogue := prompts.Words("en")
	words := catalogue.Sandbox
	for bond, want := range map[sandbox.Bond]string{
		sandbox.Namespaces: "holds: " + words.Namespaces, sandbox.ControlGroup: "holds: " + words.Group, sandbox.Marks: "not: " + words.Marks,
	} {
		text := sandboxText(catalogue, "required", sandbox.Confinement{Known: true, Held: &sandbox.Held{Together: bond}})
		holds, not, cut := strings.Cut(text, "- "+words.Not)
		list, rest := holds, not
		if strings.HasPrefix(want, "not: ") {
			list, rest = not, holds
		}
		_, phrase, _ := strings.Cut(want, ": ")
		if !cut || !strings.Contains(list, phrase) || strings.Contains(rest, phrase) {
			t.Errorf("%s: want %s\n%s", bond, want, text)
		}
	}
}
