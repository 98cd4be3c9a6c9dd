package threads

// CallNames are the names of this architecture's system calls by number; nil where
// snag has no table. Not to be changed.
func CallNames() map[int]string { return syscallNames }

// CompatNames are those of its 32-bit calls (32-bit programs on a 64-bit kernel);
// nil where snag has no table. Not to be changed.
func CompatNames() map[int]string { return compatNames }

// CompatName is the name of a 32-bit call by its number, marked as such: they are
// not the 64-bit calls of the same name.
func CompatName(nr int) string { return nameOf(compatNames, nr) + "/32" }
