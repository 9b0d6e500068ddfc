//! Calls of Windows for which our crates have no safe functions. This is the only file with unsafe code, and is not
//! compiled on other systems.
//!
//! Each function makes one call, or a few that belong together, and returns plain values, which its callers interpret.

#![expect(unsafe_code, reason = "the system's own functions are reached by no other way")]

use std::ffi::{OsStr, OsString, c_void};
use std::fs::File;
use std::io;
use std::mem::{size_of, zeroed};
use std::os::windows::ffi::{OsStrExt, OsStringExt};
use std::os::windows::io::{AsHandle, AsRawHandle, FromRawHandle, IntoRawHandle, OwnedHandle};
use std::path::PathBuf;
use std::process::Child;
use std::ptr::{null, null_mut};
use std::time::Duration;

use tokio::net::windows::named_pipe::{NamedPipeServer, ServerOptions};
use windows_sys::Wdk::Foundation::OBJECT_ATTRIBUTES;
use windows_sys::Wdk::Storage::FileSystem::{FILE_OPEN, NtCreateFile};
use windows_sys::Win32::Foundation::{
    ERROR_NO_MORE_FILES, FILETIME, HANDLE, HANDLE_FLAG_INHERIT, LocalFree, OBJ_CASE_INSENSITIVE,
    RtlNtStatusToDosError, SetHandleInformation, UNICODE_STRING, WAIT_TIMEOUT,
};
use windows_sys::Win32::Security::Authorization::{
    ConvertSecurityDescriptorToStringSecurityDescriptorW, ConvertSidToStringSidW,
    ConvertStringSecurityDescriptorToSecurityDescriptorW, GetSecurityInfo, SDDL_REVISION_1, SE_KERNEL_OBJECT,
};
use windows_sys::Win32::Security::{
    DACL_SECURITY_INFORMATION, GetTokenInformation, OWNER_SECURITY_INFORMATION,
    PROTECTED_DACL_SECURITY_INFORMATION, PSECURITY_DESCRIPTOR, PSID, SECURITY_ATTRIBUTES,
    SetKernelObjectSecurity, TOKEN_QUERY, TOKEN_USER, TokenUser,
};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_BASIC_INFO, FILE_ID_INFO, FILE_INFO_BY_HANDLE_CLASS, FILE_NAME_NORMALIZED, FILE_SHARE_DELETE,
    FILE_SHARE_READ, FILE_SHARE_WRITE, FILE_STANDARD_INFO, FileBasicInfo, FileIdBothDirectoryInfo,
    FileIdInfo, FileStandardInfo, GetFileInformationByHandleEx, GetFinalPathNameByHandleW, VOLUME_NAME_DOS,
};
use windows_sys::Win32::System::Console::{
    GetStdHandle, STD_ERROR_HANDLE, STD_INPUT_HANDLE, STD_OUTPUT_HANDLE, SetStdHandle,
};
use windows_sys::Win32::System::Diagnostics::Debug::{
    SEM_FAILCRITICALERRORS, SEM_NOGPFAULTERRORBOX, SetErrorMode,
};
use windows_sys::Win32::System::IO::IO_STATUS_BLOCK;
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, TerminateJobObject,
};
use windows_sys::Win32::System::ProcessStatus::{K32GetProcessMemoryInfo, PROCESS_MEMORY_COUNTERS};
use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, GetCurrentThread, GetProcessHandleCount, GetThreadTimes, INFINITE, OpenProcess,
    OpenProcessToken, PROCESS_SYNCHRONIZE, PROCESS_TERMINATE, TerminateProcess, WaitForSingleObject,
};

/// The exit code of a killed process.
const KILLED: u32 = 1;

fn check(result: i32) -> io::Result<()> {
    if result == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn check_code(code: u32) -> io::Result<()> {
    if code == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(code.cast_signed())) }
}

fn wide(text: &OsStr) -> Vec<u16> {
    text.encode_wide().chain([0]).collect()
}

/// Opens a path below an open folder. `name` has `\` between its parts.
pub(super) fn open_at(folder: &File, name: &OsStr, access: u32, options: u32) -> io::Result<File> {
    let mut name: Vec<u16> = name.encode_wide().collect();
    let bytes = u16::try_from(name.len().saturating_mul(2)).map_err(|_| io::ErrorKind::InvalidFilename)?;
    let name = UNICODE_STRING { Length: bytes, MaximumLength: bytes, Buffer: name.as_mut_ptr() };
    let attributes = OBJECT_ATTRIBUTES {
        Length: u32::try_from(size_of::<OBJECT_ATTRIBUTES>()).unwrap_or(0),
        RootDirectory: folder.as_raw_handle(),
        ObjectName: &raw const name,
        Attributes: OBJ_CASE_INSENSITIVE,
        SecurityDescriptor: null(),
        SecurityQualityOfService: null(),
    };
    let share = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
    let mut handle: HANDLE = null_mut();
    // SAFETY: all pointers are to values that live until the call returns; the handle is ours if the call succeeds.
    let status = unsafe {
        let mut block: IO_STATUS_BLOCK = zeroed();
        NtCreateFile(
            &raw mut handle,
            access,
            &raw const attributes,
            &raw mut block,
            null(),
            0,
            share,
            FILE_OPEN,
            options,
            null(),
            0,
        )
    };
    if status < 0 {
        // SAFETY: the function takes and returns a number.
        return Err(io::Error::from_raw_os_error(unsafe { RtlNtStatusToDosError(status) }.cast_signed()));
    }
    // SAFETY: the call succeeded, so the handle is open, and nobody else has it.
    Ok(unsafe { File::from_raw_handle(handle) })
}

/// The attributes of an open file.
#[derive(Debug, Clone, Copy)]
pub(super) struct FileInformation {
    pub(super) volume: u64,
    pub(super) index: u128,
    pub(super) size: u64,
    pub(super) attributes: u32,
    /// In units of 100 ns since 1601.
    pub(super) write_time: i64,
    /// The same for the last change of the file's data or metadata.
    pub(super) change_time: i64,
}

/// Returns the attributes of an open file.
pub(super) fn file_information(file: &File) -> io::Result<FileInformation> {
    // SAFETY: each class belongs to its structure, all of which are valid with any bytes.
    let (basic, standard, id) = unsafe {
        let basic: FILE_BASIC_INFO = information_of_class(file, FileBasicInfo)?;
        let standard: FILE_STANDARD_INFO = information_of_class(file, FileStandardInfo)?;
        let id: io::Result<FILE_ID_INFO> = information_of_class(file, FileIdInfo);
        (basic, standard, id)
    };
    let (volume, index) = match id {
        Ok(id) => (id.VolumeSerialNumber, u128::from_le_bytes(id.FileId.Identifier)),
        // Some file systems, such as FAT, have only the shorter numbers.
        Err(_) => {
            let found = winapi_util::file::information(file)?;
            (found.volume_serial_number(), found.file_index().into())
        }
    };
    Ok(FileInformation {
        volume,
        index,
        size: u64::try_from(standard.EndOfFile).unwrap_or(0),
        attributes: basic.FileAttributes,
        write_time: basic.LastWriteTime,
        change_time: basic.ChangeTime,
    })
}

/// # Safety
///
/// `T` is the structure of the class, and valid with any bytes.
unsafe fn information_of_class<T>(file: &File, class: FILE_INFO_BY_HANDLE_CLASS) -> io::Result<T> {
    let size = u32::try_from(size_of::<T>()).unwrap_or(0);
    // SAFETY: the buffer has the size that is passed.
    unsafe {
        let mut found: T = zeroed();
        check(GetFileInformationByHandleEx(file.as_raw_handle(), class, (&raw mut found).cast(), size))?;
        Ok(found)
    }
}

/// Returns the next entries of an open folder as the system wrote them (`FILE_ID_BOTH_DIR_INFO`), or nothing at its
/// end.
pub(super) fn next_entries(folder: &File, buffer: &mut [u64]) -> io::Result<bool> {
    let size = u32::try_from(size_of_val(buffer)).unwrap_or(0);
    let (handle, buffer) = (folder.as_raw_handle(), buffer.as_mut_ptr().cast());
    // SAFETY: the buffer has the size that is passed, and is aligned to 8 bytes.
    match check(unsafe { GetFileInformationByHandleEx(handle, FileIdBothDirectoryInfo, buffer, size) }) {
        Err(error) if error.raw_os_error() == Some(ERROR_NO_MORE_FILES.cast_signed()) => Ok(false),
        read => read.map(|()| true),
    }
}

/// Returns the path of an open file or folder, with all links resolved.
pub(super) fn final_path(file: &File) -> io::Result<PathBuf> {
    let mut buffer = vec![0_u16; 512];
    loop {
        let room = u32::try_from(buffer.len()).unwrap_or(u32::MAX);
        let flags = FILE_NAME_NORMALIZED | VOLUME_NAME_DOS;
        // SAFETY: the buffer has the size that is passed.
        let length =
            unsafe { GetFinalPathNameByHandleW(file.as_raw_handle(), buffer.as_mut_ptr(), room, flags) };
        match usize::try_from(length).unwrap_or(0) {
            0 => return Err(io::Error::last_os_error()),
            length if length < buffer.len() => {
                return Ok(PathBuf::from(OsString::from_wide(&buffer[..length])));
            }
            length => buffer.resize(length + 1, 0),
        }
    }
}

/// Memory that the system allocated for us.
struct LocalMemory(*mut c_void);

impl Drop for LocalMemory {
    fn drop(&mut self) {
        // SAFETY: the pointer came from a function whose result is freed so, and is not used any more.
        unsafe { LocalFree(self.0) };
    }
}

impl LocalMemory {
    /// # Safety
    ///
    /// It holds text that ends with a NUL.
    unsafe fn to_text(&self) -> String {
        let text = self.0.cast::<u16>();
        // SAFETY: there is a NUL, and nothing after it is read.
        unsafe {
            let length = (0..).take_while(|at| *text.add(*at) != 0).count();
            String::from_utf16_lossy(std::slice::from_raw_parts(text, length))
        }
    }
}

/// # Safety
///
/// `sid` is valid.
unsafe fn sid_text(sid: PSID) -> io::Result<String> {
    let mut text = null_mut();
    // SAFETY: the system allocates the text, which is freed with `LocalMemory`.
    unsafe {
        check(ConvertSidToStringSidW(sid, &raw mut text))?;
        Ok(LocalMemory(text.cast()).to_text())
    }
}

/// Returns the security identifier of the user that this process runs as, such as `S-1-5-21-…-1001`.
pub(super) fn user_sid() -> io::Result<String> {
    // SAFETY: the buffer has the size that is passed, and is aligned for the structure at its beginning, which has a
    // pointer into the buffer.
    unsafe {
        let mut token: HANDLE = null_mut();
        check(OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &raw mut token))?;
        let token = OwnedHandle::from_raw_handle(token);
        let mut buffer = [0_u64; 32];
        let (size, mut written) = (u32::try_from(size_of_val(&buffer)).unwrap_or(0), 0);
        let pointer = buffer.as_mut_ptr();
        check(GetTokenInformation(token.as_raw_handle(), TokenUser, pointer.cast(), size, &raw mut written))?;
        sid_text((*pointer.cast::<TOKEN_USER>()).User.Sid)
    }
}

/// Returns the security identifier of an open object's owner, and its access list as SDDL.
pub(super) fn security(object: &impl AsHandle) -> io::Result<(String, String)> {
    let handle = object.as_handle().as_raw_handle();
    let what = OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION;
    // SAFETY: the system allocates descriptor and text, which are freed with `LocalMemory`; the owner lies in the
    // descriptor.
    unsafe {
        let (mut owner, mut descriptor): (PSID, PSECURITY_DESCRIPTOR) = (null_mut(), null_mut());
        // A file is a kernel object as well: this type makes no other call than that for any handle.
        check_code(GetSecurityInfo(
            handle,
            SE_KERNEL_OBJECT,
            what,
            &raw mut owner,
            null_mut(),
            null_mut(),
            null_mut(),
            &raw mut descriptor,
        ))?;
        let descriptor = LocalMemory(descriptor);
        let mut text = null_mut();
        check(ConvertSecurityDescriptorToStringSecurityDescriptorW(
            descriptor.0,
            SDDL_REVISION_1,
            DACL_SECURITY_INFORMATION,
            &raw mut text,
            null_mut(),
        ))?;
        let text = LocalMemory(text.cast()).to_text();
        if owner.is_null() {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "object has no owner"));
        }
        Ok((sid_text(owner)?, text))
    }
}

/// Parses a security descriptor from its text form.
fn security_descriptor(sddl: &str) -> io::Result<LocalMemory> {
    let sddl = wide(OsStr::new(sddl));
    let mut descriptor: PSECURITY_DESCRIPTOR = null_mut();
    // SAFETY: the text ends with a NUL; the system allocates the descriptor, which is freed with `LocalMemory`.
    check(unsafe {
        ConvertStringSecurityDescriptorToSecurityDescriptorW(
            sddl.as_ptr(),
            SDDL_REVISION_1,
            &raw mut descriptor,
            null_mut(),
        )
    })?;
    Ok(LocalMemory(descriptor))
}

/// Restricts an open object to the users whom an access list names, as SDDL. The handle needs the right
/// `WRITE_DAC`.
pub(super) fn set_access(object: &impl AsHandle, sddl: &str) -> io::Result<()> {
    let descriptor = security_descriptor(sddl)?;
    let what = DACL_SECURITY_INFORMATION | PROTECTED_DACL_SECURITY_INFORMATION;
    // SAFETY: the handle is open, and the descriptor lives until the call returns.
    check(unsafe { SetKernelObjectSecurity(object.as_handle().as_raw_handle(), what, descriptor.0) })
}

/// Creates an instance of a named pipe, with the access that `sddl` describes. Creating the first one is an error if a
/// pipe with the name already exists.
pub(super) fn create_pipe(name: &OsStr, sddl: &str, is_first: bool) -> io::Result<NamedPipeServer> {
    let descriptor = security_descriptor(sddl)?;
    let mut attributes = SECURITY_ATTRIBUTES {
        nLength: u32::try_from(size_of::<SECURITY_ATTRIBUTES>()).unwrap_or(0),
        lpSecurityDescriptor: descriptor.0,
        bInheritHandle: 0,
    };
    // SAFETY: attributes and descriptor live until the pipe has been created.
    unsafe {
        ServerOptions::new()
            .first_pipe_instance(is_first)
            .create_with_security_attributes_raw(name, (&raw mut attributes).cast())
    }
}

/// Returns the memory of this process in bytes, and its number of open handles; zeros where the system does not report
/// them.
pub(super) fn memory_and_handles() -> (u64, u64) {
    let size = u32::try_from(size_of::<PROCESS_MEMORY_COUNTERS>()).unwrap_or(0);
    // SAFETY: the structure has the size that is passed, and is valid with any bytes.
    unsafe {
        let (mut memory, mut handles): (PROCESS_MEMORY_COUNTERS, u32) = (zeroed(), 0);
        if K32GetProcessMemoryInfo(GetCurrentProcess(), &raw mut memory, size) == 0 {
            memory.WorkingSetSize = 0;
        }
        if GetProcessHandleCount(GetCurrentProcess(), &raw mut handles) == 0 {
            handles = 0;
        }
        (memory.WorkingSetSize as u64, u64::from(handles))
    }
}

/// Returns the processor time of the calling thread.
pub(super) fn thread_time() -> Duration {
    let ticks = |time: FILETIME| u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime);
    // SAFETY: all pointers are to values that live until the call returns.
    unsafe {
        let [mut began, mut ended, mut kernel, mut user]: [FILETIME; 4] = zeroed();
        let times = (&raw mut began, &raw mut ended, &raw mut kernel, &raw mut user);
        if GetThreadTimes(GetCurrentThread(), times.0, times.1, times.2, times.3) == 0 {
            return Duration::ZERO;
        }
        Duration::from_nanos(ticks(kernel).saturating_add(ticks(user)).saturating_mul(100))
    }
}

fn open_process(pid: u32, access: u32) -> io::Result<OwnedHandle> {
    // SAFETY: the handle is ours if it is not null.
    unsafe {
        let handle = OpenProcess(access, 0, pid);
        check(i32::from(!handle.is_null()))?;
        Ok(OwnedHandle::from_raw_handle(handle))
    }
}

/// Returns whether a process with this id is running.
pub(super) fn is_running(pid: u32) -> io::Result<bool> {
    let process = open_process(pid, PROCESS_SYNCHRONIZE)?;
    // SAFETY: the handle is open.
    Ok(unsafe { WaitForSingleObject(process.as_raw_handle(), 0) } == WAIT_TIMEOUT)
}

/// Kills a process at once.
pub(super) fn end_process(pid: u32) -> io::Result<()> {
    let process = open_process(pid, PROCESS_TERMINATE)?;
    // SAFETY: the handle is open.
    check(unsafe { TerminateProcess(process.as_raw_handle(), KILLED) })
}

/// Waits until a process has ended.
pub(super) fn wait_for_end(process: &OwnedHandle) {
    // SAFETY: the handle is open.
    unsafe { WaitForSingleObject(process.as_raw_handle(), INFINITE) };
}

/// Puts a process into a new job, to which all its future children belong.
pub(super) fn new_job(child: &Child) -> io::Result<OwnedHandle> {
    // SAFETY: both handles are open; the job is ours if it is not null.
    unsafe {
        let job = CreateJobObjectW(null(), null());
        check(i32::from(!job.is_null()))?;
        let job = OwnedHandle::from_raw_handle(job);
        check(AssignProcessToJobObject(job.as_raw_handle(), child.as_raw_handle()))?;
        Ok(job)
    }
}

/// Ends all processes of a job.
pub(super) fn end_job(job: &OwnedHandle) -> io::Result<()> {
    // SAFETY: the handle is open.
    check(unsafe { TerminateJobObject(job.as_raw_handle(), KILLED) })
}

/// Redirects the standard output and the standard error of this process to a file, which stays open from now on.
pub(super) fn set_output(file: File) -> io::Result<()> {
    let handle = file.into_raw_handle();
    // SAFETY: the handle is open, and nobody closes it.
    unsafe {
        check(SetStdHandle(STD_OUTPUT_HANDLE, handle))?;
        check(SetStdHandle(STD_ERROR_HANDLE, handle))
    }
}

/// Prevents children from inheriting the standard input and output, unless they are passed explicitly: a daemon would
/// hold them as long as it runs, and a reader at the other end would wait for its end.
pub(super) fn keep_standard_handles() {
    for kind in [STD_INPUT_HANDLE, STD_OUTPUT_HANDLE, STD_ERROR_HANDLE] {
        // SAFETY: a handle that is not there is refused by the call.
        unsafe { SetHandleInformation(GetStdHandle(kind), HANDLE_FLAG_INHERIT, 0) };
    }
}

/// Disables error reports, which contain memory images, of this process and its children.
pub(super) fn disable_error_reports() {
    // SAFETY: the function takes and returns a number.
    unsafe { SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX) };
}
