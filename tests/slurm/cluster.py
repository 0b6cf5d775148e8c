"""A real Slurm of several nodes on this machine: daemons of its own, in a folder of its own."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil

NEEDED = ("munged", "munge", "slurmctld", "slurmd", "sinfo", "squeue", "scontrol", "sbatch")
CONFIGURATION = """\
ClusterName=atlas
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=15
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
SlurmdTimeout=15
ReturnToService=2
JobRequeue=1
MpiDefault=none
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
"""


class Cluster:
    """Munge, one controller and a slurmd for each of `nodes`; all end with `stop`."""

    def __init__(self, nodes: tuple[str, ...] = ("n1", "n2", "n3")) -> None:
        self.nodes = nodes
        self.folder = Path(tempfile.mkdtemp(prefix="atlas-slurm-"))
        self.folder.chmod(0o755)
        self._daemons: dict[str, subprocess.Popen[bytes]] = {}
        self.environment = {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf")}

    def start(self) -> None:
        """Returns once every node is idle. Raises RuntimeError, with the end of the logs."""
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        for name in ("state", *(f"spool-{node}" for node in self.nodes)):
            (self.folder / name).mkdir()
        host, (port, *ports) = socket.gethostname().partition(".")[0], _free(1 + len(self.nodes))
        lines = [CONFIGURATION.format(host=host, port=port, folder=self.folder)]
        for node, own in zip(self.nodes, ports, strict=True):
            lines.append(
                f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={own} CPUs=1 "
                "RealMemory=2000\n"
            )
        lines.append(
            f"PartitionName=p Nodes={','.join(self.nodes)} Default=YES MaxTime=INFINITE State=UP\n"
        )
        (self.folder / "slurm.conf").write_text("".join(lines), encoding="utf-8")
        self._run_daemon(
            "munged",
            *("munged", "--foreground", "--force", f"--key-file={key}"),
            *(f"--{name}-file={self.folder}/munge.{name}" for name in ("log", "pid", "seed")),
            f"--socket={self.folder}/munge.socket",
        )
        self._wait("munged answers", lambda: (self.folder / "munge.socket").exists())
        self._run_daemon("slurmctld", "slurmctld", "-D")
        for node in self.nodes:
            self._run_daemon(node, "slurmd", "-D", "-N", node)
        self._wait(
            "all nodes are idle", lambda: self.ask("sinfo", "-h", "-o", "%T").split() == ["idle"]
        )

    def ask(self, *command: str) -> str:
        """What a command of Slurm prints."""
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True)
        return done.stdout

    def kill(self, node: str) -> list[int]:
        """Ends a node as a power cut does: its slurmd, the steps that it began, all they run."""
        self._daemons[node].kill()
        ended = list[int]()
        while running := self._of(node):
            for process in running:
                with suppress(psutil.NoSuchProcess):  # went with one before it
                    process.kill()
                    ended.append(process.pid)
        return ended

    def stop(self) -> None:
        """Ends every job and daemon that this cluster began, and removes its folder."""
        self.ask("scancel", "--user=root")
        for node in self.nodes:
            self.kill(node)
        for daemon in reversed(self._daemons.values()):
            daemon.terminate()
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _of(self, node: str) -> list[psutil.Process]:
        """The processes that jobs of this cluster run on `node`, and the steps above them."""
        found = dict[int, psutil.Process]()
        for process in psutil.process_iter():
            with suppress(psutil.Error):  # gone by now, or a zombie
                about = process.environ()
                ours = about.get("SLURM_CONF") == self.environment["SLURM_CONF"]
                if ours and about.get("SLURMD_NODENAME") == node:
                    above = (p for p in process.parents() if "slurmstepd" in p.name())
                    found |= {p.pid: p for p in (process, *above)}
        return list(found.values())

    def _run_daemon(self, name: str, *command: str) -> None:
        with (self.folder / f"{name}.out").open("wb") as log:
            self._daemons[name] = subprocess.Popen(
                command, env=self.environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL
            )

    def _wait(self, what: str, so: Callable[[], bool], seconds: float = 60) -> None:
        end = time.monotonic() + seconds
        while not so():
            if time.monotonic() > end:
                logs = sorted((*self.folder.glob("*.out"), *self.folder.glob("*.log")))
                tails = [f"{p.name}: {p.read_text(errors='replace')[-500:]}" for p in logs]
                raise RuntimeError(f"waited {seconds:.0f} s until {what}\n" + "\n".join(tails))
            time.sleep(0.2)


def _free(count: int) -> list[int]:
    """Ports that nobody listens on."""
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports
