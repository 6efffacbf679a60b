//go:build !linux

package agents

// heldHere says that nothing holds: there is no sandbox here.
func heldHere(s Sandbox) Held {
	return Held{Own: true, Open: landlocked().Error(), Limits: s.Limits}
}

// processGroup is a control group, which this system does not have.
type processGroup struct{}

func (Sandbox) group() *processGroup { return nil }

func (*processGroup) remove()      {}
func (*processGroup) path() string { return "" }
