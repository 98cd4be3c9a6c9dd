package live

import (
	"context"
	"os"
	"slices"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"snag/internal/shown"
	"snag/probes/streams/watch"
)

// Screen is the live table in a terminal.
type Screen struct {
	Group string // the key of the label that rows are grouped by; "" for none

	mu   sync.Mutex
	last string
}

// NewScreen returns a screen that shows nothing yet.
func NewScreen() *Screen { return &Screen{} }

// Note shows a line under the table until the next. It may be called from anywhere.
func (s *Screen) Note(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = time.Now().UTC().Format("15:04:05") + "  " + shown.Text(text)
}

// Event shows what is news under the table.
func (s *Screen) Event(h watch.Happened) {
	if text := Say(h); text != "" {
		s.Note(eventName(h) + "  " + text)
	}
}

// Verdict shows what the host's recording told of a stream.
func (s *Screen) Verdict(j watch.Judged) {
	s.Note(named(j.Stream, j.Layer) + "  " + SayVerdict(j))
}

// Run shows the table until the user quits or ctx ends.
func (s *Screen) Run(ctx context.Context, snapshot func() watch.Snapshot, color bool, in, out *os.File) error {
	m := model{screen: s, look: snapshot, table: Table{Width: 80, Height: 24, Color: color, Group: s.Group}, snap: snapshot()}
	// Ctrl-C is the command's, as everywhere: it ends ctx.
	p := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out), tea.WithoutSignalHandler(), tea.WithFPS(10))
	_, err := p.Run()
	if ctx.Err() != nil {
		return nil // it was asked to end
	}
	return err
}

type model struct {
	screen  *Screen
	look    func() watch.Snapshot
	table   Table
	snap    watch.Snapshot
	details bool
}

// timeToLook asks for a new snapshot.
type timeToLook struct{}

const refresh = 500 * time.Millisecond

func again() tea.Cmd { return tea.Tick(refresh, func(time.Time) tea.Msg { return timeToLook{} }) }

// Init begins to look.
func (m model) Init() tea.Cmd { return again() }

// Update takes a key, the terminal's size, or the time to look again.
func (m model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.table.Width, m.table.Height = msg.Width, msg.Height
	case timeToLook:
		m.snap = m.look()
		m.screen.mu.Lock()
		m.table.Last = m.screen.last
		m.screen.mu.Unlock()
		return m, again()
	case tea.KeyPressMsg:
		if m.table.Typing {
			return m.typed(msg), nil
		}
		return m.pressed(msg.String())
	}
	return m, nil
}

func (m model) pressed(key string) (tea.Model, tea.Cmd) {
	switch key {
	case "q", "ctrl+c":
		return m, tea.Quit
	case "/":
		m.table.Typing, m.details = true, false
	case "esc":
		if !m.details {
			m.table.Filter = ""
		}
		m.details = false
	case "enter":
		m.details = !m.details
	case "up", "k":
		m.move(-1)
	case "down", "j":
		m.move(1)
	case "pgup":
		m.move(-m.table.Rows())
	case "pgdown", "space":
		m.move(m.table.Rows())
	case "home", "g":
		m.move(-len(m.snap.Rows))
	case "end", "G":
		m.move(len(m.snap.Rows))
	}
	return m, nil
}

// maxFilter is how long a filter may be.
const maxFilter = 60

func (m model) typed(msg tea.KeyPressMsg) model {
	switch key := msg.String(); {
	case key == "enter":
		m.table.Typing = false
	case key == "esc" || key == "ctrl+c":
		m.table.Typing, m.table.Filter = false, ""
	case key == "backspace":
		if r := []rune(m.table.Filter); len(r) > 0 {
			m.table.Filter = string(r[:len(r)-1])
		}
	case len(m.table.Filter)+len(msg.Text) <= maxFilter:
		m.table.Filter += msg.Text
	}
	return m
}

// move chooses another row. The cursor stays with its stream when rows move.
func (m *model) move(by int) {
	rows := m.rows()
	if len(rows) == 0 {
		return
	}
	at := max(0, slices.IndexFunc(rows, func(r *watch.Row) bool { return Key(r) == m.table.Cursor }))
	m.table.Cursor = Key(rows[min(max(0, at+by), len(rows)-1)])
}

// rows are those that the filter leaves, in the table's order.
func (m *model) rows() []*watch.Row {
	return rowsOf(itemsOf(Sorted(&m.snap, m.table.Filter), m.table.Group))
}

// View draws the table, or the chosen stream.
func (m model) View() tea.View {
	v := tea.NewView(m.draw())
	v.AltScreen = true
	v.WindowTitle = "snag watch"
	return v
}

func (m model) draw() string {
	if rows := m.rows(); m.details && len(rows) > 0 {
		at := max(0, slices.IndexFunc(rows, func(r *watch.Row) bool { return Key(r) == m.table.Cursor }))
		return m.table.Details(&m.snap, rows[at])
	}
	return m.table.Draw(&m.snap)
}
