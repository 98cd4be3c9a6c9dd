package page

// Comparison is what a page of snag compare has besides B's verdict: how B differs from A.
type Comparison struct {
	Outcome  string           `json:"outcome"` // worse, as good, can't tell
	Sentence string           `json:"sentence"`
	A        string           `json:"a"` // what A is
	B        string           `json:"b"`
	Parties  []ComparedParty  `json:"parties"`
	Changes  []ComparedChange `json:"changes"`
}

// ComparedParty is a service, or calls to one: where the time of an answer goes in A and in B.
type ComparedParty struct {
	Subject  string            `json:"subject"`
	Change   string            `json:"change"` // of the time, in words
	Worse    bool              `json:"worse"`
	MeanA    float64           `json:"mean_a"` // s of an answer
	MeanB    float64           `json:"mean_b"`
	Accounts []ComparedAccount `json:"accounts"` // the one that grew most first
}

// ComparedAccount is an account's part of an answer, s.
type ComparedAccount struct {
	Account string  `json:"account"`
	Delay   bool    `json:"delay"`
	A       float64 `json:"a"`
	B       float64 `json:"b"`
}

// ComparedChange is a figure that changed by more than chance, in words.
type ComparedChange struct {
	What  string `json:"what"`
	A     string `json:"a"`
	B     string `json:"b"`
	Worse bool   `json:"worse"`
}
