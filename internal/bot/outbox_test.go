package bot

import (
	"testing"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/github"
)

// Answers are sent while an agent works: what is added while one is on its way is
// kept, and what was cut off is sent again.
func TestOutboxKeepsWhatIsAdded(t *testing.T) {
	o := &outbox{}
	o.refuse(1, command.Denial{What: "/pause"})
	first := o.first()
	if len(first) != 1 || first[0].kind != aRefusal {
		t.Fatalf("first is %+v", first)
	}
	if again := o.first(); len(again) != 1 || again[0].comment != 1 {
		t.Errorf("what was not sent is gone: %+v", again)
	}
	o.refuse(2, command.Denial{What: "/retry"})
	o.sign(1, github.Confused) // it is there already
	o.sent(first)
	if next := o.first(); len(next) != 1 || next[0].comment != 2 {
		t.Errorf("then comes %+v", next)
	}
	if n := o.reactions(); n != 2 {
		t.Errorf("%d reactions", n)
	}
	sending := o.first()
	o.clear()
	o.sent(sending) // nothing is left of it
	if len(o.first()) > 0 {
		t.Errorf("after it was cleared there is %+v", o.first())
	}
}
