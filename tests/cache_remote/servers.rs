//! The servers, each on a port of its own of this machine.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use cuda_program::cache::opendal::{Operator, services};

/// A store that is running.
pub trait Server {
    /// What another process needs to use it too.
    fn told(&self) -> String;

    fn operator(&self) -> Operator {
        operator(&self.told())
    }
}

const BUCKET: &str = "kernels";
pub const PASSWORD: &str = "only-for-this-test";

/// An operator for what [`Server::told`] says.
pub fn operator(told: &str) -> Operator {
    let (kind, address) = told.split_once(' ').unwrap();
    match kind {
        "redis" => {
            let (password, address) = address.split_once('@').unwrap();
            let redis = services::Redis::default()
                .endpoint(&format!("redis://{address}"))
                .password(password);
            Operator::new(redis).unwrap().finish()
        }
        "s3" => {
            let s3 = services::S3::default()
                .endpoint(&format!("http://{address}"))
                .bucket(BUCKET)
                .region("us-east-1")
                .access_key_id("test")
                .secret_access_key("test")
                .disable_config_load()
                .disable_ec2_metadata();
            Operator::new(s3).unwrap().finish()
        }
        _ => panic!("no such server: {told}"),
    }
}

pub struct Redis {
    child: Child,
    address: String,
    _folder: tempfile::TempDir,
}

impl Redis {
    pub fn missing() -> Option<String> {
        let there = Command::new("redis-server")
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        there
            .is_err()
            .then(|| "needs `redis-server`, of the system's package of that name".to_owned())
    }

    pub fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = free_port().to_string();
        let child = Command::new("redis-server")
            .args(["--bind", "127.0.0.1", "--port", &port])
            .args(["--requirepass", PASSWORD])
            .args(["--save", "", "--appendonly", "no"])
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let redis = Redis {
            child,
            address: format!("127.0.0.1:{port}"),
            _folder: folder,
        };
        wait_for(&redis.address);
        redis
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub fn signal(&self, signal: libc::c_int) {
        let id = libc::pid_t::try_from(self.child.id()).unwrap();
        // SAFETY: the process is a child that was not waited for, so the id is still its own.
        assert_eq!(unsafe { libc::kill(id, signal) }, 0);
    }
}

impl Server for Redis {
    fn told(&self) -> String {
        format!("redis {PASSWORD}@{}", self.address)
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub struct S3 {
    child: Child,
    address: String,
}

impl S3 {
    fn program() -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target/tools/moto/bin/moto_server")
    }

    pub fn missing() -> Option<String> {
        (!Self::program().exists()).then(|| {
            "needs moto's server: `python3 -m venv target/tools/moto`, then \
             `target/tools/moto/bin/pip install 'moto[s3,server]'`"
                .to_owned()
        })
    }

    pub fn start() -> Self {
        let port = free_port().to_string();
        let child = Command::new(Self::program())
            .args(["--host", "127.0.0.1", "--port", &port])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let s3 = S3 {
            child,
            address: format!("127.0.0.1:{port}"),
        };
        wait_for(&s3.address);
        let mut stream = TcpStream::connect(&s3.address).unwrap();
        let request = format!(
            "PUT /{BUCKET} HTTP/1.1\r\nHost: {}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            s3.address
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        s3
    }
}

impl Server for S3 {
    fn told(&self) -> String {
        format!("s3 {}", self.address)
    }
}

impl Drop for S3 {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

fn wait_for(address: &str) {
    let end = Instant::now() + Duration::from_secs(60);
    while TcpStream::connect(address).is_err() {
        assert!(
            Instant::now() < end,
            "the server at {address} does not start"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}
