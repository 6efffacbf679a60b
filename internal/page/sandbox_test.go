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
	for _, tt := range []struct {
		held  sandbox.Held
		holds bool
		want  string
	}{
		{sandbox.Held{Network: sandbox.OwnNetwork}, false, catalogue.Say("sandbox.network")},
		{sandbox.Held{Closed: true, Network: sandbox.OwnNetwork}, true, catalogue.Say("sandbox.networkOwn")},
		{sandbox.Held{Closed: true, Network: sandbox.PortAlone}, false, catalogue.Say("sandbox.networkPort")},
		{sandbox.Held{Closed: true}, false, catalogue.Say("sandbox.networkNone")},
	} {
		holds, not, _ := strings.Cut(sandboxText(catalogue, "required", sandbox.Confinement{Known: true, Held: &tt.held}), "- "+catalogue.Say("sandbox.not"))
		if strings.Contains(holds, tt.want) != tt.holds || strings.Contains(not, tt.want) == tt.holds {
			t.Errorf("%q: it holds %s\nand does not %s", tt.want, holds, not)
		}
	}
}

// What ends the processes of a call is said, and so is what does not.
func TestSummaryOfWhatEndsACall(t *testing.T) {
	catalogue := prompts.Words("en")
	for bond, want := range map[sandbox.Bond]string{
		sandbox.Namespaces: "holds: " + catalogue.Say("sandbox.namespaces"), sandbox.ControlGroup: "holds: " + catalogue.Say("sandbox.group"), sandbox.Marks: "not: " + catalogue.Say("sandbox.marks"),
	} {
		text := sandboxText(catalogue, "required", sandbox.Confinement{Known: true, Held: &sandbox.Held{Together: bond}})
		holds, not, cut := strings.Cut(text, "- "+catalogue.Say("sandbox.not"))
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
