//! A Slurm of one host, for tests under a real batch system: munged, slurmctld and slurmd with a configuration of their own, on the
//! loopback interface. Jobs have a private `/tmp` and `/dev/shm`, as clusters with `job_container/tmpfs` give them.

use crate::process::{self, TestFolder};
use crate::trace::LIMIT;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What has to be installed.
const PROGRAMS: [&str; 4] = [
    "/usr/sbin/munged",
    "/usr/sbin/slurmctld",
    "/usr/sbin/slurmd",
    "/usr/bin/srun",
];

/// How long the daemons may take to be ready for jobs.
const START: Duration = Duration::from_secs(60);

/// A running Slurm. It ends with this value, and its jobs with it.
pub struct Slurm {
    folder: PathBuf,
    daemons: Vec<Child>,
}

impl Drop for Slurm {
    fn drop(&mut self) {
        // Steps are no children of ours.
        let _ = self
            .command("scancel")
            .args(["--signal=KILL", "--user=root"])
            .status();
        for daemon in self.daemons.iter_mut().rev() {
            let _ = Command::new("kill").arg(daemon.id().to_string()).status();
            let _ = daemon.wait();
        }
        // What slurmd keeps mounted for jobs.
        let jobs = self.folder.join("jobs");
        let _ = Command::new("umount")
            .args(["--recursive", "--lazy"])
            .arg(jobs)
            .stderr(Stdio::null())
            .status();
    }
}

impl Slurm {
    /// Starts one, whose files are in `folder`. `None`, and a line that says why, where that is not possible.
    pub fn start(folder: &TestFolder) -> Option<Slurm> {
        if let Some(missing) = PROGRAMS.iter().find(|path| !Path::new(path).exists()) {
            crate::skip(&format!("no Slurm: {missing} is not there"));
            return None;
        }
        let own = fs::metadata("/proc/self").expect("a process of this user");
        if own.uid() != 0 {
            crate::skip("no Slurm: only root can start its daemons for all users");
            return None;
        }
        if crate::target().starts_with("/tmp") {
            crate::skip(
                "no Slurm: its jobs have a /tmp of their own, and what they are to run is there",
            );
            return None;
        }
        let mut slurm = Slurm {
            folder: folder.path().join("slurm"),
            daemons: Vec::new(),
        };
        match slurm.launch() {
            Ok(()) => Some(slurm),
            Err(why) => panic!("Slurm does not start: {why}\n{}", slurm.logs()),
        }
    }

    fn launch(&mut self) -> Result<(), String> {
        for name in ["state", "spool", "jobs"] {
            fs::create_dir_all(self.folder.join(name)).expect("own folder");
        }
        let host = fs::read_to_string("/proc/sys/kernel/hostname").map_err(|e| e.to_string())?;
        let host = host.trim().split('.').next().unwrap_or_default();
        let place = self.folder.display();
        // Ports of this process's own.
        let port = 20_000 + 2 * (std::process::id() % 10_000);
        let configuration = format!(
            "ClusterName=test\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={port}\nSlurmdPort={}\n\
             AuthType=auth/munge\nAuthInfo=socket={place}/munge.socket\nCredType=cred/munge\nSlurmUser=root\nSlurmdUser=root\n\
             StateSaveLocation={place}/state\nSlurmdSpoolDir={place}/spool\n\
             SlurmctldPidFile={place}/slurmctld.pid\nSlurmdPidFile={place}/slurmd.pid\n\
             ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSwitchType=switch/none\nMpiDefault=none\n\
             SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\nSlurmdParameters=config_overrides\n\
             JobContainerType=job_container/tmpfs\nPrologFlags=contain\nKillWait=2\nReturnToService=2\n\
             NodeName={host} NodeAddr=127.0.0.1 CPUs=8\nPartitionName=all Nodes={host} Default=YES MaxTime=INFINITE\n",
            port + 1
        );
        self.write("slurm.conf", 0o644, configuration.as_bytes());
        let container = format!("AutoBasePath=true\nBasePath={place}/jobs\n");
        self.write("job_container.conf", 0o644, container.as_bytes());
        let key: Vec<u8> = (0..64u32)
            .map(|n| (port.wrapping_mul(n + 1) >> 3) as u8)
            .collect();
        self.write("munge.key", 0o400, &key);

        let mut munged = Command::new(PROGRAMS[0]);
        munged.args(["--force", "--foreground"]);
        for (option, name) in [
            ("socket", "munge.socket"),
            ("key-file", "munge.key"),
            ("pid-file", "munge.pid"),
            ("log-file", "munge.log"),
            ("seed-file", "munge.seed"),
        ] {
            munged.arg(format!("--{option}={place}/{name}"));
        }
        self.daemon("munged", munged);
        let socket = self.folder.join("munge.socket");
        self.wait("munged", || socket.exists())?;
        for daemon in [PROGRAMS[1], PROGRAMS[2]] {
            let mut command = Command::new(daemon);
            command
                .arg("-D")
                .arg("-f")
                .arg(self.folder.join("slurm.conf"));
            self.daemon(daemon.rsplit('/').next().unwrap_or_default(), command);
        }
        self.wait("a host for jobs", || {
            let state = self
                .command("sinfo")
                .args(["--noheader", "--format=%t"])
                .output();
            state.is_ok_and(|output| output.stdout.starts_with(b"idle"))
        })
    }

    /// Writes a file of the configuration.
    fn write(&self, name: &str, mode: u32, bytes: &[u8]) {
        let path = self.folder.join(name);
        fs::write(&path, bytes).expect("own folder");
        fs::set_permissions(&path, PermissionsExt::from_mode(mode)).expect("own file");
    }

    /// Starts a daemon, which writes what it says to a file.
    fn daemon(&mut self, name: &str, mut command: Command) {
        let log = fs::File::create(self.folder.join(format!("{name}.out"))).expect("own folder");
        let errors = log.try_clone().expect("own file");
        command.stdin(Stdio::null()).stdout(log).stderr(errors);
        self.daemons
            .push(command.spawn().expect("a program that is there"));
    }

    fn wait(&self, what: &str, mut is_ready: impl FnMut() -> bool) -> Result<(), String> {
        let begin = Instant::now();
        while !is_ready() {
            if begin.elapsed() > START {
                return Err(format!("no {what} after {START:?}"));
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(())
    }

    /// What the daemons have said.
    pub fn logs(&self) -> String {
        let names = ["munged", "slurmctld", "slurmd"];
        let logs = names.map(|name| {
            let text = fs::read_to_string(self.folder.join(format!("{name}.out")));
            format!("== {name}\n{}", text.unwrap_or_default())
        });
        logs.concat()
    }

    /// A command of Slurm, or one that calls it, for this Slurm.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env("SLURM_CONF", self.folder.join("slurm.conf"));
        command
    }

    /// Submits a script as a job with these options of sbatch. What it says goes into the file `job.out` of the folder.
    #[track_caller]
    pub fn submit<'s>(&'s self, folder: &'s Path, options: &[&str], script: &str) -> SlurmJob<'s> {
        let path = folder.join("job.sh");
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("own folder");
        let mut sbatch = self.command("sbatch");
        sbatch
            .current_dir(folder)
            .args(["--parsable", "--output=job.out", "--open-mode=append"])
            .args(options)
            .arg(&path);
        let number = process::run(&mut sbatch, LIMIT).succeeded().stdout;
        SlurmJob {
            slurm: self,
            folder,
            number: number.trim().to_owned(),
        }
    }
}

/// A job that was submitted.
pub struct SlurmJob<'s> {
    slurm: &'s Slurm,
    folder: &'s Path,
    number: String,
}

impl SlurmJob<'_> {
    /// Waits until something is as it should be, while the job is there.
    #[track_caller]
    pub fn wait_until(&self, what: &str, is_so: impl Fn() -> bool) {
        let begin = Instant::now();
        while !is_so() {
            assert!(begin.elapsed() < LIMIT, "{what}: not so\n{}", self.story());
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Waits for the end of the job, with all tasks of an array.
    #[track_caller]
    pub fn wait(&self) {
        self.wait_until("the job has ended", || {
            let mut squeue = self.slurm.command("squeue");
            squeue.args(["--noheader", "--jobs"]).arg(&self.number);
            let left = process::run(&mut squeue, LIMIT);
            // A job that ended some time ago is not known any more.
            left.stdout.is_empty()
        });
    }

    /// Cancels the job: SIGTERM, and SIGKILL some seconds later.
    #[track_caller]
    pub fn cancel(&self) {
        process::run(self.slurm.command("scancel").arg(&self.number), LIMIT).succeeded();
    }

    /// What the job has said so far.
    pub fn said(&self) -> String {
        fs::read_to_string(self.folder.join("job.out")).unwrap_or_default()
    }

    /// What the job and the daemons have said, for a test that fails.
    pub fn story(&self) -> String {
        format!("job {}\n{}{}", self.number, self.said(), self.slurm.logs())
    }
}
