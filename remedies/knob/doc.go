package knob

// Doc is what an engineer wants to know of a setting. Range is what the kernel takes,
// in words; Since is the first kernel that has it.
type Doc struct {
	Name   string
	About  string
	Unit   string
	Range  string
	Since  string
	Helps  string
	Hurts  string
	Source string
}
