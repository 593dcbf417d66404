# Install urlfold from a release on Windows, without Go:
#
#   irm https://github.com/urlfold/urlfold/releases/latest/download/install.ps1 | iex
#
# It downloads the archive for this processor, verifies its checksum, puts urlfold.exe into
# %LOCALAPPDATA%\Programs\urlfold, and adds that folder to the PATH of the user. Settings,
# from the environment:
#
#   URLFOLD_VERSION  such as 0.1.0; default: the latest release
#   URLFOLD_BIN      the folder of the program; PATH is then left alone
#   URLFOLD_BASE     where releases are, instead of GitHub
function Install-Urlfold {
    $ErrorActionPreference = 'Stop'
    $ProgressPreference = 'SilentlyContinue' # Windows PowerShell 5.1 downloads slowly with it
    [Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12

    # A 32-bit PowerShell sees the processor of the system in the second variable.
    $processor = if ($env:PROCESSOR_ARCHITEW6432) { $env:PROCESSOR_ARCHITEW6432 } else { $env:PROCESSOR_ARCHITECTURE }
    $arch = switch ($processor) {
        'AMD64' { 'amd64' }
        'ARM64' { 'arm64' }
        default { throw "install.ps1: no binary for the processor ${processor}: go install github.com/urlfold/urlfold/cmd/urlfold@latest" }
    }
    $base = if ($env:URLFOLD_BASE) { $env:URLFOLD_BASE } else { 'https://github.com/urlfold/urlfold/releases' }
    $from = if ($env:URLFOLD_VERSION) { "$base/download/v$($env:URLFOLD_VERSION -replace '^v')" } else { "$base/latest/download" }
    $bin = if ($env:URLFOLD_BIN) { $env:URLFOLD_BIN } else { Join-Path $env:LOCALAPPDATA 'Programs\urlfold' }

    $tmp = Join-Path ([IO.Path]::GetTempPath()) ([Guid]::NewGuid().ToString())
    New-Item -ItemType Directory -Path $tmp | Out-Null
    try {
        $sums = Join-Path $tmp 'checksums.txt'
        Invoke-WebRequest -UseBasicParsing -Uri "$from/checksums.txt" -OutFile $sums
        $line = Get-Content $sums | Where-Object { $_ -match "_windows_$arch\.zip$" } | Select-Object -First 1
        if (-not $line) { throw "install.ps1: the release has no archive for windows/$arch" }
        $want, $archive = $line -split '\s+', 2
        $zip = Join-Path $tmp $archive
        Invoke-WebRequest -UseBasicParsing -Uri "$from/$archive" -OutFile $zip
        $got = (Get-FileHash -Algorithm SHA256 -Path $zip).Hash
        if ($got -ne $want) { throw "install.ps1: ${archive}: SHA-256 is $got, want ${want}: nothing was installed" }
        Expand-Archive -Path $zip -DestinationPath $tmp
        New-Item -ItemType Directory -Force -Path $bin | Out-Null
        Copy-Item -Force -Path (Join-Path $tmp 'urlfold.exe') -Destination $bin
    } finally {
        Remove-Item -Recurse -Force $tmp
    }
    Write-Output "installed $(& (Join-Path $bin 'urlfold.exe') --version) in $bin"
    $path = [Environment]::GetEnvironmentVariable('Path', 'User')
    if (-not $env:URLFOLD_BIN -and ($path -split ';') -notcontains $bin) {
        [Environment]::SetEnvironmentVariable('Path', "$path;$bin".TrimStart(';'), 'User')
        Write-Output 'open another terminal, where PATH has this folder'
    }
}

# PowerShell runs this only when it has read the whole script.
Install-Urlfold
