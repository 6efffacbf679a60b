//go:build !linux

package agents

// heldHere says that nothing holds: there is no sandbox here.
func heldHere(l Limits) Held { return Held{Open: landlocked().Error(), Limits: l} }

// processGroup is a control group, which this system does not have.
type processGroup struct{}

func (Sandbox) group() *processGroup { return nil }

func (*processGroup) remove()      {}
func (*processGroup) path() string { return "" }
