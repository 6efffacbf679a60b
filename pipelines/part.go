package pipelines

// part gives the phase as one of its parts is done: in a folder of its own.
// Approved is the whole.
func (p *Phase) part(id string) *Phase {
	part := *p
	part.Name, part.Folder, part.Approve = p.Name+"."+id, p.Folder+"."+id, ""
	part.NoReview = p.NoReview || p.Split.Review == "whole"
	return &part
}
