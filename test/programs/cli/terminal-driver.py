"""Runs a command on a pseudo terminal: `terminal-driver.py EXPECTED TYPED EXPECTED TYPED -- COMMAND...`.

Each TYPED is sent when the EXPECTED before it has been printed. All output goes to stdout, and the exit code is the command's.
"""
import os
import pty
import sys

split = sys.argv.index("--")
dialogue, command = sys.argv[1:split], sys.argv[split + 1 :]
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(command[0], command)
unread = ""
while True:
    try:
        chunk = os.read(terminal, 65536)
    except OSError:  # Linux: the other end is closed.
        break
    if not chunk:
        break
    text = chunk.decode(errors="replace")
    sys.stdout.write(text)
    unread += text
    while dialogue and dialogue[0] in unread:
        expected, typed, *dialogue = dialogue
        unread = unread.split(expected, 1)[1]
        os.write(terminal, typed.encode())
_, status = os.waitpid(pid, 0)
sys.exit(os.waitstatus_to_exitcode(status) & 0xFF)
