package boot

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/golci/golci/internal/job/boot/pmi"
)

// A job may have room for ranks that start later. Each group of ranks that start together is a world. The launcher
// serves PMI to each world on its own: there its ranks count from 0. In a Job they have numbers of their own, from
// First on, up to Size. Numbers are not used again.

// Errors of what starts processes, and of published names.
var (
	ErrSpawn   = errors.New("golci: processes cannot be started")
	ErrName    = errors.New("golci: no such service")
	ErrService = errors.New("golci: the service is not published")
)

// Command is a program of which a launcher starts N processes.
type Command struct {
	Argv []string // program and arguments; a program without a slash is looked for in Path, Dir and the launcher's PATH
	N    int      // at least 1
	Dir  string   // working directory; relative programs are looked for from there
	Path []string // directories
	Env  []string // KEY=VALUE, on top of the launcher's environment and what it gives to all ranks
}

// SpawnRequest asks the launcher for a new world.
type SpawnRequest struct {
	Commands []Command
	Parent   []byte // what Parent gives in the new world
}

// SpawnAnswer is what has become of a request.
type SpawnAnswer struct {
	First int    // rank of the first new process; the others follow
	Error string // why nothing has been started; "" if all has
	Bad   int    // the command that could not be started; -1 if it is no single one
}

// encodeGob makes a gob: arguments are bytes, and JSON would replace those that are not UTF-8.
func (r *SpawnRequest) encodeGob() ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(r)
	return b.Bytes(), err
}

// ParseSpawn is the request that a rank has sent, for its launcher.
func ParseSpawn(text []byte) (r SpawnRequest, err error) {
	err = gob.NewDecoder(bytes.NewReader(text)).Decode(&r)
	return r, err
}

// mostSpawn bounds a request, as it travels in one line.
const mostSpawn = pmi.MaxRead * 3 / 4 * 9 / 10

// Spawn asks the launcher to start a new world. It returns when all ranks of that can be reached. It blocks the calling
// goroutine, and keeps other calls of this Job waiting. The error wraps ErrSpawn if nothing has been started; bad is
// then the command that could not be, or -1.
func (j *Job) Spawn(ctx context.Context, r SpawnRequest) (first, bad int, err error) {
	w, ok := j.store.(*pmiStore)
	if !ok || j.Launcher != LauncherGolci {
		return 0, -1, fmt.Errorf("%w: the launcher is %s; start the job with golci run -universe N", ErrSpawn, j.Launcher)
	}
	if !j.Room() {
		return 0, -1, fmt.Errorf("%w: the job has no room for more than its %d ranks; golci run -universe N makes room",
			ErrSpawn, j.Size)
	}
	text, err := r.encodeGob()
	if err != nil {
		return 0, -1, fmt.Errorf("%w: %w", ErrSpawn, err)
	}
	if len(text) > mostSpawn {
		return 0, -1, fmt.Errorf("%w: commands of %d bytes, at most %d", ErrSpawn, len(text), mostSpawn)
	}
	a, err := w.spawn(ctx, text)
	if err == nil && a.Error != "" {
		err = fmt.Errorf("%w: %s", ErrSpawn, a.Error)
	}
	return a.First, a.Bad, err
}

func (w *pmiStore) spawn(ctx context.Context, text []byte) (a SpawnAnswer, err error) {
	a.Bad = -1
	if err := w.takeTurn(ctx); err != nil {
		return a, err
	}
	defer w.giveTurn()
	m, err := w.callServer(ctx, pmi.M(pmi.CmdSpawn, pmi.FieldText, base64.RawURLEncoding.EncodeToString(text)))
	if err != nil {
		return a, err
	}
	b, err := base64.RawURLEncoding.DecodeString(m.Str(pmi.FieldText))
	if err == nil {
		err = json.Unmarshal(b, &a)
	}
	if err != nil {
		return a, w.failWire(fmt.Errorf("%w: %s: %w", pmi.ErrReply, m, err))
	}
	return a, nil
}

// roomOf asks for the place of this world in its job.
func (w *pmiStore) roomOf(ctx context.Context, j *Job) error {
	text, err := w.readKey(ctx, pmi.KeyRoom)
	if errors.Is(err, ErrNoKey) {
		return nil
	}
	if err != nil {
		return err
	}
	var first, size, late int
	if _, err := fmt.Sscanf(text, "%d:%d:%d", &first, &size, &late); err != nil || first < 0 || first+j.Mates > size ||
		late < 1 || size > maxSize {
		return fmt.Errorf("%w: the place of the world in its job is %q", pmi.ErrReply, text)
	}
	j.Rank, j.First, j.Size, j.Late = j.Rank+first, first, size, late
	j.LocalRanks = make([]int, size)
	for i := range j.LocalRanks {
		j.LocalRanks[i] = i
	}
	return nil
}

// readKey reads a key that the server has had from the start.
func (w *pmiStore) readKey(ctx context.Context, name string) (string, error) {
	if err := w.takeTurn(ctx); err != nil {
		return "", err
	}
	defer w.giveTurn()
	return w.getRaw(ctx, name)
}

// Ready tells the launcher that all ranks of this world can be reached. The first of them calls it, once.
func (j *Job) Ready() error {
	w, ok := j.store.(*pmiStore)
	if !ok || !j.Room() || j.Rank != j.First {
		return nil
	}
	if err := w.takeTurn(context.Background()); err != nil {
		return err
	}
	defer w.giveTurn()
	return w.sendMsg(pmi.M(pmi.CmdReady))
}

// Parent is what the spawning ranks have told this world; nil if it has started with the job.
func (j *Job) Parent(ctx context.Context) ([]byte, error) {
	w, ok := j.store.(*pmiStore)
	if !ok || j.First == 0 {
		return nil, nil
	}
	text, err := w.readKey(ctx, pmi.KeyParent)
	if err != nil {
		return nil, err
	}
	return base64.RawURLEncoding.DecodeString(text)
}

// AppNum is the number of the program of this rank, among those that started together, where golci run tells it;
// else 0.
func (j *Job) AppNum(ctx context.Context) (int, error) {
	w, ok := j.store.(*pmiStore)
	if !ok || !w.ours {
		return 0, nil
	}
	if err := w.takeTurn(ctx); err != nil {
		return 0, err
	}
	defer w.giveTurn()
	m, err := w.callServer(ctx, pmi.M("get_appnum"))
	if err != nil {
		return 0, err
	}
	return m.Int("appnum")
}

// nameService is a store of published services.
type nameService interface {
	publishPort(ctx context.Context, service, port string) error
	unpublish(ctx context.Context, service string) error
	lookup(ctx context.Context, service string) (port string, err error)
}

func (j *Job) names() (nameService, error) {
	if n, ok := j.store.(nameService); ok {
		return n, nil
	}
	return nil, fmt.Errorf("%w: the launcher %s keeps no names", ErrService, j.Launcher)
}

// Publish publishes a port under the name of a service, for all ranks of the job. ErrService: the name is taken, or
// the launcher keeps no names. It blocks the calling goroutine until the launcher answers, as the next two do.
func (j *Job) Publish(ctx context.Context, service, port string) error {
	n, err := j.names()
	if err != nil {
		return err
	}
	return n.publishPort(ctx, service, port)
}

// Unpublish takes a service back. ErrService: it is not published.
func (j *Job) Unpublish(ctx context.Context, service string) error {
	n, err := j.names()
	if err != nil {
		return err
	}
	return n.unpublish(ctx, service)
}

// Lookup gives the port of a service. ErrName: it is not published.
func (j *Job) Lookup(ctx context.Context, service string) (port string, err error) {
	n, err := j.names()
	if err != nil {
		return "", err
	}
	return n.lookup(ctx, service)
}

// oneWord is a text as one word of the protocol. The dot keeps it from being empty.
func oneWord(s string) string { return "." + base64.RawURLEncoding.EncodeToString([]byte(s)) }

// callNaming sends a request about a service. refused is the error if the server refuses it.
func (w *pmiStore) callNaming(ctx context.Context, refused error, service string, m pmi.Msg) (pmi.Msg, error) {
	m.Fields = append([]pmi.Field{{Key: "service", Value: oneWord(service)}}, m.Fields...)
	if line, err := m.Append(nil); err != nil || len(line) > pmi.MaxSend {
		return pmi.Msg{}, fmt.Errorf("%w: the name of the service or of the port is too long, %d bytes", ErrService,
			len(line))
	}
	if err := w.takeTurn(ctx); err != nil {
		return pmi.Msg{}, err
	}
	defer w.giveTurn()
	got, err := w.callServer(ctx, m)
	if errors.Is(err, pmi.ErrRefuse) {
		err = fmt.Errorf("%w: %q: %w", refused, service, err)
	}
	return got, err
}

func (w *pmiStore) publishPort(ctx context.Context, service, port string) error {
	_, err := w.callNaming(ctx, ErrService, service, pmi.M("publish_name", "port", oneWord(port)))
	return err
}

func (w *pmiStore) unpublish(ctx context.Context, service string) error {
	_, err := w.callNaming(ctx, ErrService, service, pmi.M("unpublish_name"))
	return err
}

func (w *pmiStore) lookup(ctx context.Context, service string) (string, error) {
	m, err := w.callNaming(ctx, ErrName, service, pmi.M("lookup_name"))
	if err != nil {
		return "", err
	}
	port, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(m.Str("port"), "."))
	return string(port), err
}

func (r *memoryRank) publishPort(_ context.Context, service, port string) error {
	r.m.mu.Lock()
	defer r.m.mu.Unlock()
	if err := r.checkUsable(); err != nil {
		return err
	}
	if _, taken := r.m.names[service]; taken {
		return fmt.Errorf("%w: %q is taken", ErrService, service)
	}
	if r.m.names == nil {
		r.m.names = map[string]string{}
	}
	r.m.names[service] = port
	return nil
}

func (r *memoryRank) unpublish(_ context.Context, service string) error {
	r.m.mu.Lock()
	defer r.m.mu.Unlock()
	if err := r.checkUsable(); err != nil {
		return err
	}
	if _, ok := r.m.names[service]; !ok {
		return fmt.Errorf("%w: %q", ErrService, service)
	}
	delete(r.m.names, service)
	return nil
}

func (r *memoryRank) lookup(_ context.Context, service string) (string, error) {
	r.m.mu.Lock()
	defer r.m.mu.Unlock()
	if err := r.checkUsable(); err != nil {
		return "", err
	}
	port, ok := r.m.names[service]
	if !ok {
		return "", fmt.Errorf("%w: %q", ErrName, service)
	}
	return port, nil
}
