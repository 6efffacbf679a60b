package sandbox

import (
	"net"
	"os"
	"sync"

	"github.com/reprise-ci/reprise/internal/process"
)

// ahead is the helper that was started ahead of its call, if there is one.
type ahead struct {
	sync.Mutex
	helper *process.Standby
	apart  bool          // it has a network of its own
	relay  *net.UnixConn // by which it hands out its listener then
}

// start starts it; the lock is held. That a call has to start its own is no reason to tell
// anybody.
func (a *ahead) start(helper []string, apart bool) {
	if a.helper != nil && a.apart == apart && a.helper.Waits() {
		return
	}
	a.end()
	p := policy{Own: true, Standby: true}
	p.noteUser()
	var files []*os.File
	if apart {
		p.Network = &closed{Own: true}
		ours, theirs, err := handover()
		if err != nil {
			return
		}
		a.relay, files = ours, []*os.File{theirs}
	}
	variable, err := p.variable()
	if err == nil {
		a.helper, err = process.StandBy(helper, []string{variable}, apart, files)
	}
	if err != nil {
		a.end()
	}
	a.apart = apart
}

// take gives the helper for a call, if there is one that fits; r then leads from the
// network of the call to a port.
func (a *ahead) take(apart bool, r *relay, port uint16) (*process.Standby, error) {
	if a == nil {
		return nil, nil
	}
	a.Lock()
	defer a.Unlock()
	if a.helper == nil || a.apart != apart || !a.helper.Waits() {
		return nil, nil
	}
	helper, from := a.helper, a.relay
	a.helper, a.relay = nil, nil
	if !apart {
		return helper, nil
	}
	if err := r.lead(from, port); err != nil {
		helper.End()
		return nil, err
	}
	return helper, nil
}

// end ends it. The lock is held.
func (a *ahead) end() {
	if a.helper != nil {
		a.helper.End()
	}
	if a.relay != nil {
		_ = a.relay.Close()
	}
	a.helper, a.relay = nil, nil
}
