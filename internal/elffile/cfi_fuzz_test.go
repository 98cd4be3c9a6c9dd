package elffile

import "testing"

// Whatever stands in call frame information, reading it ends, and a row names only
// registers and expressions that there are.
func FuzzCFI(f *testing.F) {
	// A CIE of gcc's without its length: version 1, "zR", code 1, data -8, column 16.
	cieBytes := []byte{0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1}
	f.Add(cieBytes, []byte{0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6}, uint64(5))
	f.Add(cieBytes, []byte{0x0f, 3, 0x77, 0x78, 6, 0x10, 3, 2, 0x76, 0x70, 0x0a, 0x0b}, uint64(0))
	f.Add(cieBytes, []byte{0x09, 6, 99, 0x14, 12, 3, 0x16, 16, 1, 0x30}, uint64(9))
	f.Fuzz(func(t *testing.T, raw, instructions []byte, address uint64) {
		c, err := parseCIE(raw)
		if err != nil {
			return
		}
		row, err := c.run(instructions, 0, address)
		if err != nil {
			return
		}
		if row.Expression == nil && row.CFA >= Registers || len(row.Expressions) > mostExpressions {
			t.Errorf("%+v", row)
		}
		for register, rule := range row.Rules {
			switch rule.Kind {
			case RuleExpression, RuleValueExpression:
				if int(rule.Offset) >= len(row.Expressions) {
					t.Errorf("register %d: %+v of %d", register, rule, len(row.Expressions))
				}
			case RuleRegister:
				if rule.Offset < 0 || rule.Offset >= Registers {
					t.Errorf("register %d: %+v", register, rule)
				}
			}
		}
	})
}
